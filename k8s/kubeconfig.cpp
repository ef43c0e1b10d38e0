#include "k8s/kubeconfig.hpp"

#include "base/base64.hpp"
#include "k8s/credentials_exec.hpp"
#include "k8s/kubeconfig_yaml.hpp"

#include <algorithm>
#include <array>

namespace k8s {
namespace {

using base::Failure;
using Kind = YamlNode::Kind;

constexpr std::size_t kFileLimit = 1024 * 1024;
constexpr std::size_t kNameLimit = 80;
constexpr std::string_view kDecodeOnce = "; it must be the PEM text in base64, encoded once";

/// What a message may repeat of the text: the name of an entry.
std::string in_quotes(std::string_view name) {
    std::string shown = base::cut_utf8(base::valid_utf8(name), kNameLimit);
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return "\"" + shown + "\"";
}

Failure<Error> refused(std::string const& message) { return unusable("kubeconfig " + message); }

/// One mapping of the kubeconfig, with its name for messages: `cluster entry "acme"`.
class Section {
  public:
    static Result<Section> of(YamlNode const& node, std::string where) {
        if (node.kind == Kind::Null) return refused(where + " is empty");
        if (node.kind != Kind::Map) return refused(where + " must be a mapping");
        for (auto const& [key, value] : node.members) {
            if (key == "<<") return refused(where + ": merge keys are not supported; write the fields out");
        }
        return Section{node, std::move(where)};
    }

    std::string const& where() const { return where_; }

    Failure<Error> refuse(std::string_view field, std::string_view what) const {
        return refused(where_ + ": " + std::string{field} + " " + std::string{what});
    }

    /// The value of a field, null where it is absent.
    Result<YamlNode const*> node(std::string_view field) const {
        YamlNode const* found = nullptr;
        for (auto const& [key, value] : node_->members) {
            if (key != field) continue;
            if (found != nullptr) return refuse(field, "is there twice");
            found = value.get();
        }
        return found;
    }

    /// Whether a field is there at all, even without a value.
    bool has(std::string_view field) const {
        return std::any_of(node_->members.begin(), node_->members.end(), [&](auto const& entry) { return entry.first == field; });
    }

    bool has_value(std::string_view field) const {
        return std::any_of(node_->members.begin(), node_->members.end(),
                           [&](auto const& entry) { return entry.first == field && entry.second->kind != Kind::Null; });
    }

    /// A scalar by its source text; "" where it is absent.
    Result<std::string> text(std::string_view field) const {
        YamlNode const* const value = TRY(node(field));
        if (value == nullptr || value->kind == Kind::Null) return std::string{};
        if (value->kind != Kind::Scalar || value->tagged) return refuse(field, "must be a plain text");
        return value->text;
    }

    Result<std::string> required(std::string_view field, std::string_view next) const {
        std::string value = TRY(text(field));
        if (value.empty()) return refuse(field, "is missing" + std::string{next});
        return value;
    }

    /// Anything but a bare true or false is a mistake that must not decide about security.
    Result<bool> flag(std::string_view field) const {
        YamlNode const* const value = TRY(node(field));
        if (value == nullptr || value->kind == Kind::Null) return false;
        bool const bare = value->kind == Kind::Scalar && value->plain;
        if (bare && (value->text == "true" || value->text == "True" || value->text == "TRUE")) return true;
        if (bare && (value->text == "false" || value->text == "False" || value->text == "FALSE")) return false;
        return refuse(field, "must be true or false, without quotes");
    }

    Result<Section> section(std::string_view field) const {
        YamlNode const* const value = TRY(node(field));
        if (value == nullptr) return refuse(field, "is missing");
        return of(*value, where_ + ": " + std::string{field});
    }

  private:
    Section(YamlNode const& node, std::string where) : node_(&node), where_(std::move(where)) {}

    YamlNode const* node_;
    std::string where_;
};

/// What an operator's kubeconfig may use and a Secret's may not. A Secret's reader gets none of it.
struct OperatorMeans {
    std::filesystem::path folder;
    base::Clock clock;
};

/// `clusters`, `contexts` and `users` are lists of {name, <inner>}: the inner mapping of the one with that name.
Result<Section> entry(Section const& root, std::string_view list, std::string_view inner, std::string const& name) {
    YamlNode const* const entries = TRY(root.node(list));
    std::string const label = std::string{inner} + " entry " + in_quotes(name);
    if (entries == nullptr || entries->kind == Kind::Null)
        return refused("has no " + label + ": " + std::string{list} + " is empty");
    if (entries->kind != Kind::List) return refused("field " + std::string{list} + " must be a list");
    YamlNode const* found = nullptr;
    for (auto const& item : entries->items) {
        auto const named = Section::of(*item, "field " + std::string{list} + ": an entry");
        if (!named) {
            if (item->kind == Kind::Map) return Failure{named.error()};  // a merge key might hide the name
            continue;
        }
        auto const its_name = named->text("name");
        if (!its_name || *its_name != name) continue;
        if (found != nullptr) return refused("has " + label + " twice; which one counts?");
        found = item.get();
    }
    if (found == nullptr) return refused("has no " + label + "; add it to " + std::string{list});
    Section const outer = TRY(Section::of(*found, label));
    YamlNode const* const value = TRY(outer.node(inner));
    if (value == nullptr) return outer.refuse(inner, "is missing");
    return Section::of(*value, label);
}

bool is_pem(std::string_view text, std::string_view label) {
    auto const begin = text.find("-----BEGIN ");
    auto const end = begin == std::string_view::npos ? begin : text.find("-----", begin + 11);
    return end != std::string_view::npos && text.substr(begin, end - begin).ends_with(label);
}

constexpr std::string_view kCertificate = "CERTIFICATE";
constexpr std::string_view kPrivateKey = "PRIVATE KEY";

Result<std::string> checked_pem(Section const& section, std::string_view field, std::string text, std::string_view label) {
    if (is_pem(text, label)) {
        if (text.find("ENCRYPTED") != std::string::npos)
            return section.refuse(field, "holds an encrypted key; store it without a passphrase");
        return text;
    }
    auto const again = base::decode_base64(text);
    std::string what = "holds no PEM block of a " + std::string{label == kCertificate ? "certificate" : "private key"};
    if (text.empty()) what = "is empty and holds no PEM block";
    if (again && is_pem(*again, label)) what = "holds no PEM block but one that is encoded in base64 twice";
    return section.refuse(field, what + std::string{field.ends_with("-data") ? kDecodeOnce : ""});
}

/// PEM from `<field>-data`, or from the file that `field` names; "" where there is neither.
Result<std::string> pem(Section const& section, std::string_view field, std::string_view label, OperatorMeans const* means) {
    std::string const data_field = std::string{field} + "-data";
    if (section.has(data_field)) {
        std::string const data = TRY(section.text(data_field));
        auto decoded = base::decode_base64(data);
        if (!decoded) return section.refuse(data_field, "is not base64 and holds no PEM block" + std::string{kDecodeOnce});
        return checked_pem(section, data_field, *std::move(decoded), label);
    }
    std::string const file = TRY(section.text(field));
    if (file.empty() || means == nullptr) return std::string{};
    auto text = read_file(means->folder / file, kFileLimit);
    if (!text) return section.refuse(field, "names a file that can't be read: " + (means->folder / file).string());
    return checked_pem(section, field, *std::move(text), label);
}

Result<void> refuse_fields(Section const& section, std::initializer_list<std::string_view> fields, std::string_view why) {
    for (auto const field : fields) {
        if (section.has_value(field)) return section.refuse(field, why);
    }
    return {};
}

Result<std::string> proxy_of(Section const& cluster) {
    std::string proxy = TRY(cluster.text("proxy-url"));
    bool const known = std::any_of(proxy.begin(), proxy.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; }) == false &&
                       (proxy.starts_with("http://") || proxy.starts_with("https://") || proxy.starts_with("socks5://"));
    if (!proxy.empty() && !known) return cluster.refuse("proxy-url", "must begin with http://, https:// or socks5://");
    return proxy;
}

Result<void> read_cluster(ClusterAccess& access, Section const& cluster, OperatorMeans const* means) {
    std::string const server = TRY(cluster.required("server", "; it must be the API server's URL"));
    auto address = parse_server_address(server);
    if (!address) return cluster.refuse("server", address.error());
    access.server = *std::move(address);
    access.tls_server_name = TRY(cluster.text("tls-server-name"));
    if (!access.tls_server_name.empty()) {
        auto const name = parse_server_address("https://" + access.tls_server_name);
        if (!name || name->host != access.tls_server_name) return cluster.refuse("tls-server-name", "must be a host name");
    }
    access.proxy_url = TRY(proxy_of(cluster));

    if (means == nullptr) {
        TRY(refuse_fields(cluster, {"certificate-authority"}, "names a file; put its content into certificate-authority-data"));
    }
    bool const insecure = TRY(cluster.flag("insecure-skip-tls-verify"));
    bool const has_ca = cluster.has("certificate-authority-data") || cluster.has_value("certificate-authority");
    if (insecure && has_ca) return cluster.refuse("insecure-skip-tls-verify", "contradicts the CA beside it; remove one of them");
    if (insecure && means == nullptr) {
        return cluster.refuse("insecure-skip-tls-verify", "is not allowed; give the CA in certificate-authority-data instead");
    }
    access.verification = insecure ? ClusterAccess::Verification::Off : ClusterAccess::Verification::On;
    access.ca = TRY(pem(cluster, "certificate-authority", kCertificate, means));
    return {};
}

Result<std::vector<std::string>> texts(Section const& section, std::string_view field) {
    std::vector<std::string> values;
    YamlNode const* const list = TRY(section.node(field));
    if (list == nullptr || list->kind == Kind::Null) return values;
    bool const usable = list->kind == Kind::List && std::all_of(list->items.begin(), list->items.end(),
                                                                [](auto const& item) { return item->kind == Kind::Scalar; });
    if (!usable) return section.refuse(field, "must be a list of texts");
    for (auto const& item : list->items) values.push_back(item->text);
    return values;
}

Result<std::vector<std::pair<std::string, std::string>>> environment_of(Section const& exec) {
    std::vector<std::pair<std::string, std::string>> variables;
    YamlNode const* const list = TRY(exec.node("env"));
    if (list == nullptr || list->kind == Kind::Null) return variables;
    if (list->kind != Kind::List) return exec.refuse("env", "must be a list of {name, value}");
    for (auto const& item : list->items) {
        Section const variable = TRY(Section::of(*item, exec.where() + ": env"));
        std::string name = TRY(variable.required("name", ""));
        std::string value = TRY(variable.text("value"));
        variables.emplace_back(std::move(name), std::move(value));
    }
    return variables;
}

/// Source: client.authentication.k8s.io/v1, kind ExecCredential, spec.cluster.
base::Json exec_cluster(ClusterAccess const& access) {
    base::Json cluster = {{"server", to_string(access.server)}};
    if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
    if (!access.proxy_url.empty()) cluster["proxy-url"] = access.proxy_url;
    if (!access.ca.empty()) cluster["certificate-authority-data"] = base::encode_base64(access.ca);
    if (access.verification == ClusterAccess::Verification::Off) cluster["insecure-skip-tls-verify"] = true;
    return cluster;
}

Result<CredentialSource> exec_source(Section const& user, ClusterAccess const& access, OperatorMeans const& means) {
    Section const exec = TRY(user.section("exec"));
    ExecPlugin plugin;
    plugin.command = TRY(exec.required("command", ""));
    if (plugin.command.find('/') != std::string::npos) plugin.command = (means.folder / plugin.command).string();
    plugin.api_version = TRY(exec.required("apiVersion", "; it must be client.authentication.k8s.io/v1 or v1beta1"));
    if (plugin.api_version != "client.authentication.k8s.io/v1" && plugin.api_version != "client.authentication.k8s.io/v1beta1") {
        return exec.refuse("apiVersion", "must be client.authentication.k8s.io/v1 or v1beta1");
    }
    std::string const interactive = TRY(exec.text("interactiveMode"));
    if (interactive == "Always") return exec.refuse("interactiveMode", "is Always, but nobody is there to answer");
    plugin.arguments = TRY(texts(exec, "args"));
    plugin.environment = TRY(environment_of(exec));
    bool const wants_cluster = TRY(exec.flag("provideClusterInfo"));
    if (wants_cluster) plugin.cluster = exec_cluster(access);
    return exec_credentials(std::move(plugin), means.clock);
}

/// What stands in the kubeconfig itself, and in the files of client-certificate and client-key.
Result<Credentials> written_credentials(Section const& user, OperatorMeans const* means) {
    Credentials credentials;
    std::string const token = TRY(user.text("token"));
    auto const clean = clean_token(token);
    if (!clean) return user.refuse("token", "has control characters in it");
    credentials.token = *clean;
    credentials.username = TRY(user.text("username"));
    credentials.password = TRY(user.text("password"));
    if (credentials.username.empty() && !credentials.password.empty())
        return user.refuse("password", "is there without a username");
    if (credentials.username.find(':') != std::string::npos) return user.refuse("username", "must have no colon in it");
    credentials.client_certificate = TRY(pem(user, "client-certificate", kCertificate, means));
    credentials.client_key = TRY(pem(user, "client-key", kPrivateKey, means));
    if (credentials.client_certificate.empty() && !credentials.client_key.empty()) {
        return user.refuse("client-certificate-data", "is missing beside the client key");
    }
    if (!credentials.client_certificate.empty() && credentials.client_key.empty()) {
        return user.refuse("client-key-data", "is missing beside the client certificate");
    }
    return credentials;
}

Result<void> read_user(ClusterAccess& access, Section const& user, OperatorMeans const* means) {
    TRY(refuse_fields(user, {"auth-provider"}, "is not supported; use a token or a client certificate"));
    TRY(refuse_fields(user, {"as", "as-uid", "as-groups", "as-user-extra"}, "is not supported: nobody is impersonated here"));
    if (means == nullptr) {
        TRY(refuse_fields(user, {"exec"},
                          "would run a program, which a kubeconfig from a Secret may not; use a token or a client certificate"));
        TRY(refuse_fields(user, {"tokenFile"},
                          "names a file, which a kubeconfig from a Secret may not; put its content into token"));
        TRY(refuse_fields(
            user, {"client-certificate", "client-key"},
            "names a file, which a kubeconfig from a Secret may not; put its content into the field that ends in -data"));
    }
    Credentials written = TRY(written_credentials(user, means));
    std::string const file = TRY(user.text("tokenFile"));
    bool const has_token = !written.token.empty() || !file.empty();
    if (has_token && !written.username.empty()) return user.refuse("username", "is there beside a token; remove one of them");

    bool const has_any = has_token || !written.username.empty() || !written.client_key.empty();
    if (user.has_value("exec")) {
        if (has_any) return user.refuse("exec", "is there beside other credentials; remove one of them");
        access.credentials = TRY(exec_source(user, access, *means));
    } else if (!file.empty()) {
        access.credentials = token_file(means->folder / file, std::move(written));
    } else if (has_any || means != nullptr) {
        access.credentials = fixed_credentials(std::move(written));
    } else {
        return user.refuse("token", "is missing, and so is client-certificate-data: nobody would be logged in");
    }
    return {};
}

Result<ClusterAccess> read(YamlNode const& document, OperatorMeans const* means) {
    if (document.kind != Kind::Map) return refused("must be a mapping with clusters, contexts and users");
    Section const root = TRY(Section::of(document, "document"));
    std::string const current = TRY(root.text("current-context"));
    if (current.empty()) return refused("has no current-context; set it to the name of a context");
    Section const context = TRY(entry(root, "contexts", "context", current));
    std::string const cluster_name = TRY(context.required("cluster", "; it must be the name of a cluster"));
    std::string const user_name = TRY(context.required("user", "; it must be the name of a user"));

    ClusterAccess access;
    access.name = "cluster " + in_quotes(cluster_name);
    access.namespace_ = TRY(context.text("namespace"));
    Section const cluster = TRY(entry(root, "clusters", "cluster", cluster_name));
    TRY(read_cluster(access, cluster, means));
    // `user: {}` or nothing at all is a user without credentials, which read_user judges.
    Section const user = TRY(entry(root, "users", "user", user_name));
    TRY(read_user(access, user, means));
    return access;
}

}  // namespace

Result<ClusterAccess> read_kubeconfig(std::string_view text, KubeconfigTrust trust, std::filesystem::path const& folder,
                                      base::Clock clock) {
    auto const document = parse_yaml(text);
    if (!document) return refused(document.error());
    if (trust == KubeconfigTrust::FromSecret) return read(**document, nullptr);
    OperatorMeans const means{folder, std::move(clock)};
    return read(**document, &means);
}

Result<ClusterAccess> read_kubeconfig_file(std::filesystem::path const& file, base::Clock clock) {
    auto const text = read_file(file, kFileLimit);
    if (!text) return refused("file " + file.string() + " can't be read");
    return read_kubeconfig(*text, KubeconfigTrust::OperatorFile, file.parent_path(), std::move(clock));
}

Result<ClusterAccess> in_cluster_access(std::string_view host, std::string_view port, std::filesystem::path const& folder) {
    auto const fail = [](std::string const& message) { return unusable("in-cluster access: " + message); };
    if (host.empty() || port.empty()) {
        return fail("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set; run in a pod, or give a kubeconfig");
    }
    auto address = parse_server_address("https://" + url_host(host) + ":" + std::string{port});
    if (!address) return fail("the URL made of KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT " + address.error());
    ClusterAccess access;
    access.name = "the cluster around this pod";
    access.server = *std::move(address);
    auto ca = read_file(folder / "ca.crt", kFileLimit);
    if (!ca || !is_pem(*ca, kCertificate)) return fail((folder / "ca.crt").string() + " holds no certificate; is it mounted?");
    access.ca = *std::move(ca);
    access.credentials = token_file(folder / "token", {});
    TRY(access.credentials(Freshness::Cached));
    return access;
}

}  // namespace k8s
