// The process that holds a pod's namespaces: it waits to be ended, and for orphans of the pod, which become its children.
#include <sys/wait.h>

#include <csignal>
#include <initializer_list>

int main() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int const signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    while (true) {
        int received = 0;
        sigwait(&signals, &received);
        if (received != SIGCHLD) return 0;
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
    }
}
