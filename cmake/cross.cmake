# A toolchain file: builds for the architecture that KRO_TRIPLET names in the environment, such as aarch64-linux-gnu, with Debian's cross
# compiler and that architecture's libraries.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "$ENV{KRO_TRIPLET}")
set(CMAKE_LIBRARY_ARCHITECTURE "$ENV{KRO_TRIPLET}")
set(CMAKE_CXX_COMPILER "$ENV{KRO_TRIPLET}-g++")
set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/$ENV{KRO_TRIPLET}/pkgconfig:/usr/share/pkgconfig")
