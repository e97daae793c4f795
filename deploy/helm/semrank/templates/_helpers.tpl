{{- define "semrank.name" -}}
{{ printf "%s-semrank" .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "semrank.selector" -}}
app.kubernetes.io/name: semrank
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "semrank.labels" -}}
{{ include "semrank.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "semrank.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "semrank.keysSecret" -}}
{{ .Values.apiKeys.existingSecret | default (printf "%s-keys" (include "semrank.name" .)) }}
{{- end }}

{{- define "semrank.scheme" -}}
{{ if .Values.tls.existingSecret }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- define "semrank.modelVolume" -}}
- name: models
  {{- if .Values.model.claim }}
  persistentVolumeClaim:
    claimName: {{ .Values.model.claim }}
    readOnly: true
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}

{{- define "semrank.modelInit" -}}
{{- if and .Values.model.init (not .Values.model.claim) }}
initContainers:
  - name: model
    image: {{ required "model.init.image is required" .Values.model.init.image }}
    command: {{ toJson (required "model.init.command is required" .Values.model.init.command) }}
    securityContext: {{ include "semrank.containerSecurity" . }}
    volumeMounts:
      - {name: models, mountPath: /models}
{{- end }}
{{- end }}

{{- define "semrank.pod" -}}
imagePullSecrets: {{ toJson .Values.imagePullSecrets }}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
nodeSelector: {{ toJson .Values.nodeSelector }}
tolerations: {{ toJson .Values.tolerations }}
affinity: {{ toJson .Values.affinity }}
{{- end }}

{{- define "semrank.containerSecurity" -}}
{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}

{{- /* Arguments: --NAME=VALUE. A number or a boolean needs toJson: printf would write %!s(int64=1000). */}}
{{- define "semrank.flags" -}}
{{- range $name, $value := . }}
- {{ printf "--%s=%s" $name (kindIs "string" $value | ternary $value (toJson $value)) | quote }}
{{- end }}
{{- end }}
