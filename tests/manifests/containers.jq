# What a rendered overlay's containers lack, a line each. Input: an array of its objects.
.[]
| "\(.kind) \(.metadata.name)" as $from
| (.spec.template.spec? | objects
   | select((.serviceAccountName // "default") == "default" and .automountServiceAccountToken != false)
   | "\($from) is given a token that it has no use for"),
  (.spec.template.spec?.containers[]?
| [ (.securityContext | objects // {}
     | (select(.runAsNonRoot != true or (.runAsUser // 0) == 0) | "runs as root"),
       (select(.readOnlyRootFilesystem != true) | "may write to its root"),
       (select(.allowPrivilegeEscalation != false) | "may gain privileges"),
       (select(.capabilities.drop != ["ALL"]) | "keeps capabilities"),
       (select(.seccompProfile.type != "RuntimeDefault") | "has no seccomp profile")),
    (select(.securityContext | not) | "has no securityContext"),
    (select(.resources.requests.cpu and .resources.requests.memory and .resources.limits.memory | not) | "lacks requests or limits"),
    (select(.readinessProbe | not) | "has no readiness probe"),
    (select(.image | contains("/") | not) | "has the image \(.image), which kustomize did not replace")
  ][]
| "the container of \($from) \(.)")
