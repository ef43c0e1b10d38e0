#include "tests/stack/node/pod_template.hpp"

#include "base/base64.hpp"

#include <fstream>

namespace node {

using base::Failure;
using base::member;
using base::text_of;

namespace {

template <class T>
using Result = base::Result<T, std::string>;

using Variables = std::vector<std::pair<std::string, std::string>>;

void write_file(std::filesystem::path const& path, std::string const& contents) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << contents;
}

/// `key` in brackets and quotes: metadata.labels['app'].
std::string between_quotes(std::string const& path) {
    auto const begin = path.find('\'');
    auto const end = path.rfind('\'');
    return begin == end ? std::string{} : path.substr(begin + 1, end - begin - 1);
}

bool is_true(Json const& value, bool otherwise) { return value.is_boolean() ? value.get<bool>() : otherwise; }

void replace_all(std::string& text, std::string const& from, std::string const& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

class Maker {
  public:
    Maker(Json const& pod_template, PodName const& pod, Place const& place, Cluster const& cluster)
        : template_(pod_template), spec_(member(pod_template, "spec")), pod_(pod), place_(place), cluster_(cluster) {}

    Result<Command> make(std::filesystem::path program) {
        std::filesystem::create_directories(place_.folder);
        Command command;
        command.program = std::move(program);
        command.folder = place_.folder;
        command.log = place_.log;
        command.environment = TRY(own_variables());
        TRY(mount_volumes());
        Json const& container = container_of(template_);
        for (auto const& source : member(container, "envFrom")) TRY(add_all(source, command.environment));
        for (auto const& variable : member(container, "env")) {
            auto value = TRY(value_of(variable));
            if (value) command.environment.emplace_back(text_of(member(variable, "name")), on_this_machine(*std::move(value)));
        }
        // The image's own command is the program.
        bool first = true;
        for (auto const& word : member(container, "command")) {
            if (!first) command.arguments.push_back(on_this_machine(text_of(word)));
            first = false;
        }
        for (auto const& word : member(container, "args")) command.arguments.push_back(on_this_machine(text_of(word)));
        for (auto& argument : command.arguments) {
            for (auto const& [name, value] : command.environment) replace_all(argument, "$(" + name + ")", value);
        }
        return command;
    }

  private:
    /// What a container has beside what its template says.
    Result<Variables> own_variables() {
        Variables variables{
            {"PATH", "/usr/local/bin:/usr/bin:/bin"},
            {"HOME", place_.folder.string()},
            {"HOSTNAME", pod_.name},
            // Names of Services lead nowhere on this machine; the node's proxy knows them.
            {"HTTP_PROXY", place_.proxy},
            {"http_proxy", place_.proxy},
            {"NO_PROXY", "127.0.0.1,localhost"},
            {"no_proxy", "127.0.0.1,localhost"},
        };
        if (is_true(member(spec_, "automountServiceAccountToken"), true)) {
            auto const token = cluster_.token_of({pod_.namespace_, account()});
            if (!token) return Failure{token.error().message};
            auto const file = place_.folder / "kubeconfig";
            write_file(file, cluster_.kubeconfig(pod_.namespace_, *token, place_.way));
            variables.emplace_back("KUBECONFIG", file.string());
            // Stands for the file `namespace` beside the token.
            variables.emplace_back("POD_NAMESPACE", pod_.namespace_);
        }
        return variables;
    }

    std::string account() const {
        std::string const name = text_of(member(spec_, "serviceAccountName"));
        return name.empty() ? "default" : name;
    }

    /// A variable's value; none where it comes from something optional that is not there.
    Result<std::optional<std::string>> value_of(Json const& variable) {
        Json const& from = member(variable, "valueFrom");
        if (from.is_null()) return std::optional{text_of(member(variable, "value"))};
        if (auto const& field = member(from, "fieldRef"); field.is_object()) {
            return std::optional{TRY(field_of(text_of(member(field, "fieldPath"))))};
        }
        for (auto const& [kind, resource] :
             {std::pair{"configMapKeyRef", k8s::kConfigMaps}, std::pair{"secretKeyRef", k8s::kSecrets}}) {
            if (auto const& ref = member(from, kind); ref.is_object()) return key_of(resource, ref);
        }
        return Failure{"the variable " + text_of(member(variable, "name")) +
                       " comes from something that this node does not know"};
    }

    Result<std::string> field_of(std::string const& path) const {
        if (path == "metadata.name") return pod_.name;
        if (path == "metadata.namespace") return pod_.namespace_;
        if (path == "spec.serviceAccountName") return account();
        if (path == "status.podIP") return pod_.address;
        for (std::string const kind : {"labels", "annotations"}) {
            if (path.starts_with("metadata." + kind + "["))
                return text_of(member(template_, "metadata", kind, between_quotes(path)));
        }
        return Failure{"this node does not know the field " + path};
    }

    Result<std::optional<std::string>> key_of(k8s::Resource const& resource, Json const& ref) {
        std::string const name = text_of(member(ref, "name"));
        std::string const key = text_of(member(ref, "key"));
        bool const optional = is_true(member(ref, "optional"), false);
        auto const data = TRY(data_of(resource, name, optional));
        if (auto const found = data.find(key); found != data.end()) return std::optional{found->second};
        if (optional) return std::optional<std::string>{};
        return Failure{std::string{resource.kind} + " " + pod_.namespace_ + "/" + name + " has no key " + key};
    }

    /// Everything in a Secret or a ConfigMap.
    Result<std::map<std::string, std::string>> data_of(k8s::Resource const& resource, std::string const& name, bool optional) {
        std::map<std::string, std::string> data;
        auto const object = cluster_.send(k8s::get(resource, {pod_.namespace_, name}));
        if (!object) {
            if (optional && object.error().kind == k8s::Error::Kind::NotFound) return data;
            return Failure{object.error().message};
        }
        for (auto const& [key, value] : member(*object, "data").items()) {
            data[key] = resource == k8s::kSecrets ? base::decode_base64(text_of(value)).value_or("") : text_of(value);
        }
        for (auto const& [key, value] : member(*object, "binaryData").items()) {
            data[key] = base::decode_base64(text_of(value)).value_or("");
        }
        return data;
    }

    Result<void> add_all(Json const& source, Variables& variables) {
        for (auto const& [kind, resource] :
             {std::pair{"configMapRef", k8s::kConfigMaps}, std::pair{"secretRef", k8s::kSecrets}}) {
            auto const& ref = member(source, kind);
            if (!ref.is_object()) continue;
            auto const data = TRY(data_of(resource, text_of(member(ref, "name")), is_true(member(ref, "optional"), false)));
            for (auto const& [key, value] : data) variables.emplace_back(text_of(member(source, "prefix")) + key, value);
        }
        return {};
    }

    Result<void> mount_volumes() {
        for (auto const& mount : member(container_of(template_), "volumeMounts")) {
            std::string const name = text_of(member(mount, "name"));
            auto const folder = place_.folder / "volumes" / name;
            std::filesystem::create_directories(folder);
            mounts_.emplace_back(text_of(member(mount, "mountPath")), folder.string());
            for (auto const& volume : member(spec_, "volumes")) {
                if (text_of(member(volume, "name")) == name) TRY(fill(volume, folder));
            }
        }
        return {};
    }

    Result<void> fill(Json const& volume, std::filesystem::path const& folder) {
        if (member(volume, "emptyDir").is_object()) return {};
        if (auto const& projected = member(volume, "projected"); projected.is_object()) {
            for (auto const& source : member(projected, "sources")) TRY(fill(source, folder));
            return {};
        }
        if (auto const& secret = member(volume, "secret"); secret.is_object()) {
            Json const& named = member(secret, "secretName");
            return write_items(k8s::kSecrets, text_of(named.is_string() ? named : member(secret, "name")), secret, folder);
        }
        if (auto const& map = member(volume, "configMap"); map.is_object()) {
            return write_items(k8s::kConfigMaps, text_of(member(map, "name")), map, folder);
        }
        return Failure{"this node does not know the kind of the volume " + base::dump_json(volume)};
    }

    Result<void> write_items(k8s::Resource const& resource, std::string const& name, Json const& source,
                             std::filesystem::path const& folder) {
        auto const data = TRY(data_of(resource, name, is_true(member(source, "optional"), false)));
        Json const& items = member(source, "items");
        if (!items.is_array()) {
            for (auto const& [key, value] : data) write_file(folder / key, value);
            return {};
        }
        for (auto const& item : items) {
            auto const found = data.find(text_of(member(item, "key")));
            if (found == data.end()) return Failure{std::string{resource.kind} + " " + name + " lacks a key of a volume's items"};
            write_file(folder / text_of(member(item, "path")), found->second);
        }
        return {};
    }

    /// A text in which paths below a mount are those of this machine.
    std::string on_this_machine(std::string text) const {
        for (auto const& [path, folder] : mounts_) {
            if (text == path) text = folder;
            replace_all(text, path + "/", folder + "/");
        }
        return text;
    }

    Json const& template_;
    Json const& spec_;
    PodName const& pod_;
    Place const& place_;
    Cluster const& cluster_;
    std::vector<std::pair<std::string, std::string>> mounts_;
};

}  // namespace

Json const& container_of(Json const& pod_template) {
    static Json const none;
    Json const& containers = member(pod_template, "spec", "containers");
    return containers.is_array() && containers.size() == 1 ? containers.front() : none;
}

base::Result<Command, std::string> command_of(Json const& pod_template, PodName const& pod, Place const& place,
                                              Images const& images, Cluster const& cluster) {
    std::string const image = text_of(member(container_of(pod_template), "image"));
    if (image.empty()) return Failure{std::string{"this node runs pods of one container"}};
    auto program = images.program_of(image);
    if (!program) return Failure{"no program stands for the image " + image};
    return Maker{pod_template, pod, place, cluster}.make(*std::move(program));
}

std::optional<std::uint16_t> container_port(Json const& pod_template, Json const& port) {
    if (port.is_number()) return static_cast<std::uint16_t>(base::integer_of(port));
    for (auto const& one : member(container_of(pod_template), "ports")) {
        if (member(one, "name") == port) return static_cast<std::uint16_t>(base::integer_of(member(one, "containerPort")));
    }
    return std::nullopt;
}

}  // namespace node
