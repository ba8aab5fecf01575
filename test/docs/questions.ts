// Questions of users with the sections that answer them, for the test of the search. Each list was written before its writer looked at the headings of the
// documentation. A question has several right sections if each of them answers it; a page without a section stands for all of its sections.

export type Questions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Questions by the user who asks them. */
export const QUESTIONS: Questions = {
  "the developer of an application": {
    "how do I use the OpenAI SDK with this": ["reference/compatible", "guides/move-from-openai"],
    "how do I get subtitles for a video": [
      "guides/questions-developers#how-do-i-get-subtitles-or-captions-of-a-video-srt-webvtt",
      "reference/captions",
    ],
    "retry a request without paying twice": [
      "reference/idempotency",
      "guides/what-did-it-cost#failed-requests-and-retries",
    ],
    "how do I check the signature of a webhook": ["reference/webhooks", "guides/jobs-and-webhooks"],
    "transcribe the microphone in a browser": ["guides/live-captions", "reference/realtime"],
    "my file is too big to upload": ["guides/troubleshooting", "errors"],
    "transcribe a folder of files": ["guides/first-transcript", "reference/cli"],
    "what does error 429 mean": ["guides/troubleshooting", "errors", "reference/quotas"],
    "How do I upload an audio file and get the transcript back? (curl example)": [
      "guides/questions-developers#how-do-i-send-an-audio-file-with-curl-and-get-the-transcript-back",
      "guides/first-transcript#5-the-same-over-http",
      "api/transcription#createTranscription",
      "api#first-requests",
      "reference/transcription#transcription",
      "reference/request-body#request-bodies-with-audio",
    ],
    "Can I use the OpenAI Python SDK with Patchbay, and what base URL do I set?": [
      "guides/move-from-openai",
      "reference/compatible#openai-compatible-endpoints",
    ],
    "How do I stream microphone audio over a websocket and get partial results?": [
      "api/live-audio#openRealtimeTranscription",
      "guides/live-captions",
      "reference/realtime",
    ],
    "I get 429 - how long must I wait and is it safe to retry?": [
      "errors#RATE_LIMITED",
      "guides/troubleshooting#402-budget_exceeded-429-rate_limited-429-concurrency_limited-a-limit-was-reached",
    ],
    "send an audio file with curl and get text": [
      "guides/questions-developers#how-do-i-send-an-audio-file-with-curl-and-get-the-transcript-back",
      "guides/first-transcript#5-the-same-over-http",
      "api/transcription#createTranscription",
      "api#first-requests",
      "reference/transcription#transcription",
      "reference/request-body#request-bodies-with-audio",
    ],
    "how do I get timestamps for every word": [
      "guides/questions-developers#how-do-i-get-timestamps-the-times-of-every-word",
      "guides/require-a-feature#features-that-you-can-require",
      "guides/move-from-deepgram#3-translate-the-parameters",
      "guides/debug-a-bad-transcript#3-check-what-the-route-would-do-with-other-options",
      "reference/transcription#transcription",
      "reference/transcription#fields",
      "reference/transcription#the-answer",
    ],
    "use the openai library with this gateway": ["guides/move-from-openai", "reference/compatible"],
    "live transcription from the microphone over websocket": [
      "guides/live-captions",
      "reference/realtime",
      "api/live-audio",
    ],
    "what does error 429 mean and when may I try again": [
      "guides/troubleshooting#402-budget_exceeded-429-rate_limited-429-concurrency_limited-a-limit-was-reached",
      "errors#RATE_LIMITED",
      "errors#CONCURRENCY_LIMITED",
    ],
    "how large may an audio file be": [
      "guides/troubleshooting#413-audio_too_large-the-file-is-too-big-to-upload",
      "errors#AUDIO_TOO_LARGE",
      "configuration#limits",
      "reference/request-body#request-bodies-with-audio",
      "reference/request-body#size",
    ],
    "which audio formats are accepted": ["formats", "reference/measuring#formats", "errors#UNSUPPORTED_MEDIA_TYPE"],
    "get notified when a long transcription is finished": [
      "guides/questions-developers#do-i-have-to-poll-or-can-i-get-notified-when-a-job-is-finished-callback-push",
      "guides/jobs-and-webhooks",
      "reference/webhooks#the-completion-webhook",
      "reference/webhooks#set-it-up",
      "reference/jobs#transcription-jobs",
      "api/webhook",
    ],
    "avoid sending the same request twice after a timeout": [
      "reference/idempotency#idempotency-keys",
      "reference/idempotency#what-a-retry-gets",
      "guides/high-availability#4-retry-until-the-answer-is-there",
    ],
    "call a function tool from chat": ["guides/chat-and-tools#4-let-the-model-call-a-function"],
    "get subtitles srt or vtt": [
      "guides/questions-developers#how-do-i-get-subtitles-or-captions-of-a-video-srt-webvtt",
      "reference/captions",
      "guides/first-transcript#3-transcribe-a-file-with-speakers-as-captions",
      "guides/move-from-deepgram#5-captions-without-a-converter",
    ],
    "transcribe a file that lies on a web server by URL": [
      "reference/remote-audio#remote-audio-by-url",
      "reference/remote-audio#check-an-address",
      "reference/remote-audio#what-may-be-fetched",
    ],
    "how do I get an api key": ["guides/questions-developers#how-do-i-get-an-api-key", "reference/tenancy#api-keys"],
    "can I use the openai python sdk with this": [
      "guides/move-from-openai",
      "guides/questions-developers#is-there-an-sdk",
      "reference/compatible#openai-compatible-endpoints",
    ],
    "how do I stream live microphone audio over websocket": [
      "api/live-audio#openRealtimeTranscription",
      "guides/live-captions",
    ],
    "what is the maximum audio file size I can upload": [
      "guides/questions-developers#how-large-and-how-long-may-a-recording-be-maximum-size-and-length",
      "guides/troubleshooting#413-audio_too_large-the-file-is-too-big-to-upload",
    ],
    "how do I get speaker labels in the transcript": [
      "guides/questions-developers#how-do-i-get-speakers-diarization-and-how-many-can-it-separate",
      "guides/require-a-feature#2-request-speakers",
      "reference/transcription#fields",
    ],
    "is ogg opus supported": [
      "guides/questions-developers#which-audio-formats-file-types-and-sizes-can-i-upload-flac-ogg-aac-video",
      "reference/measuring#formats",
    ],
    "transcribe a youtube video": [
      "guides/questions-developers#can-it-transcribe-a-youtube-link-or-a-file-in-my-bucket-presigned-url",
    ],
    "call the api from javascript in the browser cors": [
      "guides/questions-developers#can-i-call-it-directly-from-a-browser-react-or-a-mobile-app",
    ],
    "create embeddings": ["guides/questions-developers#does-it-do-text-to-speech-embeddings-or-images"],
    "summarize a meeting": ["guides/questions-developers#can-it-summarise-a-recording"],
    "translate to french": [
      "reference/translation",
      "guides/questions-developers#can-it-translate-into-another-language-than-english",
    ],
    "confidence score per word": ["guides/questions-developers#is-there-a-confidence-for-each-word"],
    "progress bar for a long job": ["guides/questions-developers#can-i-follow-the-progress-of-a-job"],
    "priority queue for urgent jobs": ["guides/questions-developers#can-a-job-have-a-higher-priority"],
    "cache identical requests": [
      "guides/questions-developers#is-the-same-recording-or-file-sent-twice-answered-from-a-cache",
    ],
    "azure speech": ["guides/questions-developers#does-it-support-azure-speech-or-amazon-transcribe-aws"],
    "phone call audio 8khz": [
      "guides/questions-developers#does-it-accept-recordings-of-phone-calls-telephone-8khz-µ-law-stereo",
    ],
    "partial results": ["guides/questions-developers#are-there-partial-interim-results-while-somebody-speaks"],
    "real time translation": ["guides/questions-developers#can-it-translate-into-another-language-than-english"],
    "does the api send cors headers for localhost": [
      "guides/questions-developers#can-i-call-it-directly-from-a-browser-react-or-a-mobile-app",
    ],
    "verify webhook signature in python": ["reference/webhooks#what-a-receiver-does"],
    "how long is an idempotency key valid": ["reference/idempotency#idempotency-keys"],
    "list of supported languages": [
      "guides/questions-developers#which-languages-are-supported-does-it-understand-is-there-a-list",
    ],
    "pagination of list endpoints next cursor": ["reference/api#lists"],
    "what does an error response look like, json format": [
      "guides/questions-developers#what-does-an-error-response-look-like-in-json",
    ],
    "send audio as base64 in json instead of multipart": [
      "guides/questions-developers#can-i-send-the-audio-as-base64-in-json-instead-of-a-multipart-form",
    ],
    "upload in chunks, resumable upload": [
      "guides/questions-developers#can-i-upload-a-large-file-in-chunks-or-continue-an-upload-that-failed-halfway-resume",
    ],
    "transcribe a file from a url": [
      "guides/questions-developers#can-it-transcribe-a-youtube-link-or-a-file-in-my-bucket-presigned-url",
    ],
    "batch transcribe many files in one request": [
      "guides/questions-developers#can-one-request-transcribe-many-files-batch-upload",
    ],
    "is there a java or go sdk": ["guides/questions-developers#is-there-an-sdk"],
    "show numbers as digits not words": ["guides/questions-transcripts#why-are-numbers-amounts-or-phone-numbers-wrong"],
    "timeout of a long request, connection closed after 60 seconds": [
      "guides/questions-developers#why-is-the-connection-closed-during-a-long-request-after-60-seconds",
    ],
    "each channel separately stereo call agent and customer": [
      "guides/questions-developers#does-it-accept-recordings-of-phone-calls-telephone-8khz-µ-law-stereo",
    ],
    "how many speakers can it separate": [
      "guides/questions-developers#how-do-i-get-speakers-diarization-and-how-many-can-it-separate",
    ],
    "does the websocket reconnect automatically, what happens when connection drops": [
      "guides/questions-developers#what-happens-when-the-websocket-of-a-live-session-disconnects-does-it-reconnect",
    ],
    "mock server for unit tests and CI": ["guides/questions-developers#is-there-a-mock-server-for-unit-tests-and-ci"],
    "how do I detect the language automatically": [
      "guides/questions-developers#how-do-i-detect-the-language-automatically",
    ],
    "openapi spec download / postman collection": [
      "guides/questions-developers#is-there-an-openapi-swagger-document-or-a-postman-collection-to-download",
    ],
    "api versioning and breaking changes, deprecation": [
      "guides/questions-developers#is-the-api-versioned-and-how-are-breaking-changes-and-deprecations-announced",
    ],
    "can I set metadata or a custom id on a request": [
      "guides/questions-developers#can-i-attach-metadata-or-an-id-of-my-own-to-a-request",
    ],
    "graphql or grpc": ["guides/questions-developers#is-there-graphql-or-grpc"],
    "stream chat completion tokens server-sent events": ["guides/chat-and-tools#3-stream", "reference/chat#stream"],
    "what is the maximum request duration": [
      "guides/questions-developers#how-long-may-a-request-take-before-it-times-out-maximum-duration",
    ],
    "can I send flac files": [
      "guides/questions-developers#which-audio-formats-file-types-and-sizes-can-i-upload-flac-ogg-aac-video",
    ],
    "how to do speaker diarization with the api": [
      "guides/questions-developers#how-do-i-get-speakers-diarization-and-how-many-can-it-separate",
    ],
    "do you have a swift or android sdk": ["guides/questions-developers#is-there-an-sdk"],
    "webhook never arrives, how do I debug it": [
      "guides/questions-developers#why-does-my-webhook-not-arrive-and-how-do-i-debug-it",
    ],
    "test webhooks on localhost": ["guides/questions-developers#why-does-my-webhook-not-arrive-and-how-do-i-debug-it"],
    "what languages does it understand": [
      "guides/questions-developers#which-languages-are-supported-does-it-understand-is-there-a-list",
    ],
    "upload fails halfway, continue where it stopped": [
      "guides/questions-developers#can-i-upload-a-large-file-in-chunks-or-continue-an-upload-that-failed-halfway-resume",
    ],
    "does it return the detected language": ["guides/questions-developers#how-do-i-detect-the-language-automatically"],
    "can I pass my own correlation id": [
      "guides/questions-developers#can-i-attach-metadata-or-an-id-of-my-own-to-a-request",
    ],
    "how do I poll a job": ["reference/jobs#transcription-jobs"],
    "which http status codes are retryable": [
      "guides/questions-developers#which-errors-and-http-status-codes-should-i-retry",
    ],
    "get only plain text not json": ["reference/captions#delivery", "reference/captions#captions-and-text"],
    "can I transcribe only a part of the file, from minute 5 to 10": [
      "guides/questions-developers#can-i-transcribe-only-a-part-of-a-file-from-minute-5-to-10",
    ],
    "is there a queue when too many requests come in": [
      "guides/questions-developers#are-requests-queued-when-too-many-come-in",
    ],
    "upload from s3 presigned url": [
      "guides/questions-developers#can-it-transcribe-a-youtube-link-or-a-file-in-my-bucket-presigned-url",
    ],
    "how to translate subtitles": ["guides/questions-developers#can-i-get-translated-subtitles"],
    "can two requests share an idempotency key": ["reference/idempotency"],
    "how do I know which model will be used before sending": [
      "guides/questions-developers#which-model-will-be-used-can-i-know-it-before-sending",
    ],
    "is the websocket protocol compatible with deepgram": [
      "guides/questions-developers#is-the-live-websocket-compatible-with-deepgrams-or-openais-realtime-protocol",
    ],
    "how do I authenticate": ["guides/questions-developers#how-do-i-authenticate-send-the-api-key"],
    "what is a purpose": ["connections-and-routes#purposes"],
    "max websocket connections": [
      "guides/questions-developers#how-many-live-sessions-websocket-connections-can-be-open-at-once",
    ],
    "why do I get 403": ["errors#FORBIDDEN"],
    "post body too large": ["errors#BODY_TOO_LARGE"],
    "use with LangChain": ["guides/questions-developers#is-there-an-sdk"],
    "temperature parameter": [
      "guides/questions-developers#does-chat-have-temperature-a-json-mode-or-structured-output",
    ],
    "json mode structured output": [
      "guides/questions-developers#does-chat-have-temperature-a-json-mode-or-structured-output",
    ],
    "images in chat": ["guides/questions-developers#does-it-do-text-to-speech-embeddings-or-images"],
    "detect sentiment or topics": ["guides/questions-developers#does-it-detect-sentiment-topics-or-entities"],
    "wav with 44.1 khz": ["guides/questions-developers#which-sample-rates-are-accepted-8-16-441-or-48-khz"],
    "opus from whatsapp voice message": [
      "guides/questions-developers#can-i-send-a-voice-message-of-whatsapp-or-telegram-ogg-opus",
    ],
    "is the client typed": ["reference/client"],
    "how accurate are the timestamps": ["guides/questions-developers#how-accurate-are-the-timestamps"],
    "paragraphs in the transcript": ["guides/questions-developers#does-the-transcript-have-paragraphs"],
    "filler words um uh removed": ["guides/questions-developers#can-filler-words-um-uh-be-removed"],
    "can I get alternatives n-best": ["guides/questions-developers#can-i-get-alternatives-n-best-of-a-transcript"],
    "does it remember previous requests context": [
      "guides/questions-developers#does-it-remember-previous-requests-context-conversation",
    ],
    "How can I tell which model transcribed my file?": [
      "guides/questions-transcripts#which-route-provider-or-model-was-used-for-a-request-which-one-transcribed-my-file",
    ],
    "What should my client do when the connection drops in the middle of a response?": [
      "guides/questions-developers#what-should-my-client-do-when-the-connection-breaks-in-the-middle-of-a-response",
    ],
    "Is it safe to call the API directly from React?": [
      "guides/questions-developers#can-i-call-it-directly-from-a-browser-react-or-a-mobile-app",
    ],
    "How do I handle very long podcasts (3 hours)?": [
      "guides/questions-developers#how-do-i-transcribe-a-very-long-recording-such-as-a-podcast-of-three-hours",
    ],
    "Can I get the transcript as a Word document?": [
      "guides/questions-developers#can-i-get-the-transcript-as-a-word-document-or-pdf",
    ],
    "Do I have to poll or can I be pushed the result?": [
      "guides/questions-developers#do-i-have-to-poll-or-can-i-get-notified-when-a-job-is-finished-callback-push",
    ],
    "How do I switch from whisper api to this?": [
      "guides/questions-developers#how-do-i-switch-from-openais-whisper-api",
    ],
    "What happens if I send the same file twice?": [
      "guides/questions-developers#is-the-same-recording-or-file-sent-twice-answered-from-a-cache",
    ],
    "How do I set the language to Spanish?": [
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "Can I send two microphones over one websocket?": [
      "guides/questions-developers#can-i-send-two-microphones-or-channels-over-one-websocket",
    ],
    "max audio file size and what formats can I upload": [
      "guides/questions-developers#which-audio-formats-file-types-and-sizes-can-i-upload-flac-ogg-aac-video",
    ],
    "product names are spelled wrong, can I add custom vocabulary": [
      "guides/questions-developers#can-i-add-a-custom-vocabulary-such-as-product-names",
    ],
    "what does the response contain": ["guides/questions-developers#what-does-the-response-of-a-transcription-contain"],
    "how to limit the answer of a chat to 200 words": [
      "guides/questions-developers#how-do-i-limit-the-length-of-a-chats-answer",
    ],
    "difference between purpose and route": [
      "connections-and-routes#connections-routes-and-purposes",
      "connections-and-routes#purposes",
    ],
  },
  "the engineer of the platform": {
    "what happens when Deepgram is down": ["guides/add-a-fallback"],
    "how do I run several instances": ["guides/several-processes"],
    "connect to a managed Postgres with a TLS certificate": ["guides/production"],
    "upgrade without downtime": ["guides/upgrade"],
    "how do I make a backup": [
      "operations",
      "guides/production#7-backup-upgrades-alerts",
      "reference/storage#backup-and-restore",
    ],
    "How do I back up the database and restore it?": [
      "operations#restore",
      "operations#back-up-embedded-storage",
      "operations#back-up-a-server",
      "guides/production#7-backup-upgrades-alerts",
      "reference/storage#backup-and-restore",
    ],
    "How do I upgrade to a new version without downtime, and can I roll back?": [
      "guides/upgrade#without-downtime-and-without-dropping-requests-in-progress",
    ],
    "Which metrics should I alert on in Prometheus?": [
      "reference/metrics#alerts-and-dashboard",
      "operations#alerts-and-a-board",
    ],
    "How do I put it behind nginx / a load balancer with TLS?": ["guides/production#5-tls-and-the-proxy-such-as-nginx"],
    "install with docker": ["guides/install#in-a-container", "operations#with-docker-compose"],
    "back up the database": [
      "operations#back-up-embedded-storage",
      "operations#back-up-a-server",
      "guides/production#7-backup-upgrades-alerts",
      "guides/upgrade#2-back-up",
      "reference/storage#backup-and-restore",
    ],
    "upgrade to a new release without downtime": [
      "guides/upgrade#without-downtime-and-without-dropping-requests-in-progress",
    ],
    "prometheus alerts": ["operations#alerts-and-a-board", "reference/metrics#alerts-and-dashboard"],
    "https certificate behind nginx": ["guides/production#5-tls-and-the-proxy-such-as-nginx"],
    "run several instances behind a load balancer": ["guides/several-processes", "guides/high-availability"],
    "connect to a hosted postgres with TLS": ["guides/production#3-postgresql", "guides/production#tls-and-sslmode"],
    "how much memory and CPU does it need": [
      "guides/questions-operators#what-are-the-hardware-requirements-how-much-memory-ram-does-it-need-which-nodejs-version-and-does-it-need-redis",
      "operations#memory",
      "guides/install#what-it-needs",
      "reference/performance#memory",
    ],
    "where are the log files and what is written in them": ["operations#logs", "reference/metrics#logs"],
    "health check endpoint for kubernetes": [
      "guides/high-availability#6-set-up-the-rest",
      "api/operations",
      "reference/api#service-endpoints-and-health-checks",
    ],
    "delete old audio after thirty days": [
      "reference/data-policy#how-long-data-is-kept",
      "reference/data-policy#how-to-delete-recordings-and-transcripts",
      "reference/jobs#retention",
      "configuration#retention",
    ],
    "keep files in S3": ["guides/production#4-object-store", "reference/storage#objects", "scaling#object-store"],
    "environment variables and settings of the configuration file": [
      "configuration#configuration",
      "reference/configuration",
    ],
    "how do I run it behind nginx": ["guides/production#5-tls-and-the-proxy-such-as-nginx"],
    "how to back up and restore the database": [
      "operations#back-up-embedded-storage",
      "operations#restore",
      "reference/storage#backup-and-restore",
    ],
    "which prometheus metrics are there": ["reference/metrics#metrics"],
    "upgrade to a new version without dropping calls in progress": [
      "guides/upgrade#without-downtime-and-without-dropping-requests-in-progress",
    ],
    "what happens to live sessions and running requests when a process is restarted": [
      "guides/upgrade#without-downtime-and-without-dropping-requests-in-progress",
      "guides/production#6-processes",
      "reference/realtime#how-a-session-ends",
    ],
    "what port does it listen on": [
      "guides/questions-operators#which-port-does-it-use-and-how-do-i-change-it",
      "reference/admin#two-listeners",
    ],
    "forgot root password": ["guides/questions-operators#i-lost-the-operators-key-root-or-admin-key-how-do-i-reset-it"],
    "is there a helm chart": ["guides/questions-operators#does-it-run-on-kubernetes-and-is-there-a-helm-chart"],
    "does it support mysql": [
      "guides/questions-operators#can-i-use-mysql-or-sqlite-and-which-postgresql-version-is-the-minimum",
    ],
    "nvidia gpu acceleration": ["guides/questions-operators#does-it-need-or-use-a-gpu"],
    "deploy in multiple regions": ["guides/questions-operators#can-it-run-in-several-regions", "scaling#regions"],
    "corporate proxy for outgoing calls": [
      "guides/questions-operators#can-it-reach-providers-through-an-http-proxy-or-a-vpn",
    ],
    "does it send usage statistics to you": [
      "guides/questions-operators#does-it-collect-telemetry-or-send-usage-statistics-and-what-data-leaves-my-network",
    ],
    "open source license": ["guides/questions-operators#which-licence-does-it-have-is-it-open-source"],
    "how many requests per second": ["guides/questions-operators#how-many-users-and-requests-can-one-server-handle"],
    "enable debug logging": ["guides/questions-operators#how-do-i-change-the-log-level-or-see-debug-logs"],
    "how much ram": [
      "guides/questions-operators#what-are-the-hardware-requirements-how-much-memory-ram-does-it-need-which-nodejs-version-and-does-it-need-redis",
    ],
    "is there a docker image on docker hub": [
      "guides/questions-operators#is-there-a-docker-image-on-docker-hub-and-how-big-is-it",
    ],
    "has it been tested with real providers": [
      "guides/questions-operators#is-it-ready-for-production-and-has-it-been-tested-with-real-providers",
    ],
    "where is the data stored on disk": ["guides/questions-operators#where-is-the-data-stored"],
    "mount under a sub path behind nginx like /patchbay": [
      "guides/questions-operators#can-it-run-under-a-path-prefix-sub-path-such-as-patchbay-without-a-subdomain",
    ],
    "systemd service unit file": [
      "guides/questions-operators#is-there-a-systemd-unit-service-file-so-that-it-starts-at-boot",
    ],
    "docker secrets file instead of env var": ["guides/production#2-secrets"],
    "listen on ipv6": ["guides/questions-operators#can-it-listen-on-ipv6"],
    "read-only root filesystem container": ["operations#containers", "guides/install#in-a-container"],
    "run as non-root user": ["guides/questions-operators#can-it-run-as-a-non-root-user-or-as-root"],
    "ARM64 raspberry pi apple silicon": ["guides/install#what-it-needs"],
    "set the time zone of the logs and reports": [
      "guides/questions-operators#which-time-zone-do-logs-budgets-and-reports-use",
    ],
    "send logs to loki or elk, json logs": [
      "guides/questions-operators#how-do-i-send-the-logs-to-loki-elk-elasticsearch-or-datadog",
    ],
    "autoscaling horizontal pod autoscaler which metric": [
      "guides/questions-operators#does-it-support-autoscaling-horizontal-pod-autoscaler-and-by-which-metric",
    ],
    "behind cloudflare or aws alb websocket timeout": [
      "guides/questions-operators#does-it-work-behind-cloudflare-an-aws-alb-or-traefik",
    ],
    "self-signed certificate of internal provider, custom CA": [
      "guides/questions-operators#how-do-i-add-a-certificate-authority-custom-ca-self-signed-certificate",
    ],
    "serve https directly without a proxy": [
      "guides/questions-operators#can-it-serve-https-tls-lets-encrypt-itself-without-a-proxy",
    ],
    "move the installation to another server": [
      "guides/questions-operators#how-do-i-move-the-installation-to-another-server",
    ],
    "restore only one workspace from a backup": [
      "guides/questions-operators#can-i-restore-a-single-workspace-from-a-backup",
    ],
    "database grows, free disk space, vacuum": [
      "guides/questions-operators#the-database-grows-how-do-i-free-disk-space-cleanup-vacuum",
    ],
    "reset everything and start from scratch": [
      "guides/questions-operators#how-do-i-reset-everything-and-start-from-scratch",
    ],
    "downgrade to the previous version": ["guides/questions-operators#can-i-downgrade-go-back-to-the-previous-version"],
    "reload configuration without restart": [
      "guides/questions-operators#how-do-i-reload-the-configuration-without-a-restart",
    ],
    "slow queries in postgres": ["guides/questions-operators#how-do-i-find-slow-queries-in-postgresql"],
    "how many database connections does it open, pool size": [
      "guides/several-processes#how-many",
      "scaling#connections",
    ],
    "opentelemetry tracing": ["operations#traces"],
    "real client ip behind proxy x-forwarded-for": [
      "guides/questions-operators#does-it-see-the-clients-ip-address-x-forwarded-for",
    ],
    "rename host / change public url": ["guides/questions-operators#how-do-i-change-the-host-name-public-url"],
    "put it on example.com/stt instead of a subdomain": [
      "guides/questions-operators#can-it-run-under-a-path-prefix-sub-path-such-as-patchbay-without-a-subdomain",
    ],
    "start automatically at boot linux": [
      "guides/questions-operators#is-there-a-systemd-unit-service-file-so-that-it-starts-at-boot",
    ],
    "run without docker on ubuntu": ["guides/questions-operators#can-i-install-it-without-docker-on-ubuntu-or-debian"],
    "which files do I need to back up": ["guides/questions-operators#which-files-do-i-need-to-back-up"],
    "kubernetes liveness and readiness probe": [
      "guides/questions-operators#does-it-run-on-kubernetes-and-is-there-a-helm-chart",
    ],
    "certificate expired Let's Encrypt renewal": [
      "guides/questions-operators#can-it-serve-https-tls-lets-encrypt-itself-without-a-proxy",
    ],
    "firewall rules which outgoing connections": [
      "guides/questions-operators#which-outgoing-connections-have-to-be-open-in-a-firewall-and-which-incoming-ones",
    ],
    "minimum postgres version": [
      "guides/questions-operators#can-i-use-mysql-or-sqlite-and-which-postgresql-version-is-the-minimum",
    ],
    "use aurora or rds": ["guides/production#3-postgresql"],
    "can it run on alpine": ["guides/install#what-it-needs"],
    "graceful shutdown how long": ["reference/api#shutdown"],
    "logs too verbose": ["guides/questions-operators#how-do-i-change-the-log-level-or-see-debug-logs"],
    "log rotation": ["guides/questions-operators#do-the-logs-need-a-log-rotation"],
    "how to see the version that is running": ["guides/questions-operators#how-do-i-see-which-version-is-running"],
    "memory keeps growing leak": ["operations#memory"],
    "cpu 100 percent": ["guides/questions-operators#what-do-i-do-when-the-cpu-is-at-100-percent-and-can-i-limit-it"],
    "max upload size nginx 413": [
      "guides/production#5-tls-and-the-proxy-such-as-nginx",
      "guides/troubleshooting#413-audio_too_large-the-file-is-too-big-to-upload",
    ],
    "ipv6 only network": ["guides/questions-operators#can-it-listen-on-ipv6"],
    "clock skew ntp": ["guides/questions-operators#do-the-clocks-of-the-machines-have-to-agree-ntp"],
    "encrypt data at rest": ["guides/questions-operators#is-data-encrypted-at-rest"],
    "air gapped install": ["guides/questions-operators#does-it-work-offline-in-an-air-gapped-network-without-internet"],
    "delete the data directory by accident": [
      "guides/questions-operators#i-deleted-the-data-directory-by-accident-what-now",
    ],
    "high availability setup with two nodes": ["guides/high-availability"],
    "where to put secrets vault": ["guides/production#2-secrets"],
    "port already in use": ["guides/questions-operators#which-port-does-it-use-and-how-do-i-change-it"],
    "install offline npm": [
      "guides/questions-operators#does-it-work-offline-in-an-air-gapped-network-without-internet",
    ],
    "where is the config file": ["reference/configuration#the-file"],
    "validate config before deploy": ["guides/production#1-start-from-the-example"],
    "what happens if provider api key expires": [
      "guides/questions-operators#what-happens-when-the-api-key-of-a-provider-expires-or-is-revoked",
    ],
    "rolling restart": ["guides/questions-operators#how-do-i-do-a-rolling-restart-or-drain-a-node-before-maintenance"],
    "connect two gateways to one database": ["guides/several-processes"],
    "does it need root": ["guides/questions-operators#can-it-run-as-a-non-root-user-or-as-root"],
    uninstall: ["guides/install#from-the-packed-tarball"],
    "docker compose example": ["operations#with-docker-compose"],
    "how big is the image": ["guides/questions-operators#is-there-a-docker-image-on-docker-hub-and-how-big-is-it"],
    "change log format to text": ["guides/questions-operators#can-the-logs-be-text-instead-of-json"],
    "limit cpu usage": ["guides/questions-operators#what-do-i-do-when-the-cpu-is-at-100-percent-and-can-i-limit-it"],
    "backup schedule cron": ["guides/questions-operators#how-do-i-schedule-backups-cron-and-verify-one"],
    "verify a backup": ["guides/questions-operators#how-do-i-schedule-backups-cron-and-verify-one"],
    "test disaster recovery": ["guides/questions-operators#how-do-i-schedule-backups-cron-and-verify-one"],
    "postgres ssl required": ["guides/production#tls-and-sslmode"],
    "redis cluster": [
      "guides/questions-operators#what-are-the-hardware-requirements-how-much-memory-ram-does-it-need-which-nodejs-version-and-does-it-need-redis",
    ],
    "sentry integration": ["guides/questions-operators#does-it-integrate-with-sentry-datadog-or-new-relic"],
    "kafka events": ["guides/questions-operators#can-events-go-to-kafka-rabbitmq-or-sqs"],
    "what data leaves my network": [
      "guides/questions-operators#does-it-collect-telemetry-or-send-usage-statistics-and-what-data-leaves-my-network",
    ],
    "What are the hardware requirements?": [
      "guides/questions-operators#what-are-the-hardware-requirements-how-much-memory-ram-does-it-need-which-nodejs-version-and-does-it-need-redis",
    ],
    "How do I monitor whether a provider is down?": [
      "guides/questions-operators#how-do-i-monitor-whether-a-provider-is-down",
    ],
    "Can I pin the version of PostgreSQL?": ["operations#which-postgresql-it-uses"],
    "How do I give the gateway a static outbound IP?": [
      "guides/questions-operators#how-do-i-give-the-gateway-a-static-outbound-ip-address",
    ],
    "How do I migrate from sqlite?": [
      "guides/questions-operators#can-i-use-mysql-or-sqlite-and-which-postgresql-version-is-the-minimum",
    ],
    "How do I change the encryption key?": ["operations#a-new-encryption-key"],
    "Is there a way to drain a node before maintenance?": [
      "guides/questions-operators#how-do-i-do-a-rolling-restart-or-drain-a-node-before-maintenance",
    ],
    "What happens if the S3 bucket is unavailable?": [
      "guides/questions-operators#what-happens-when-the-s3-bucket-object-store-is-unavailable",
    ],
    "How do I limit total memory?": ["guides/questions-operators#how-do-i-limit-the-memory-of-the-gateway"],
    "Which user and permissions does the database need?": [
      "guides/questions-operators#which-database-user-and-permissions-does-it-need",
    ],
    "run behind nginx reverse proxy with a path prefix, https": [
      "guides/questions-operators#can-it-run-under-a-path-prefix-sub-path-such-as-patchbay-without-a-subdomain",
    ],
    "serve under a sub path /patchbay instead of a domain root": [
      "guides/questions-operators#can-it-run-under-a-path-prefix-sub-path-such-as-patchbay-without-a-subdomain",
    ],
    "how do I know that the gateway is healthy from outside": [
      "guides/questions-operators#how-do-i-check-from-outside-that-the-gateway-is-healthy",
    ],
    "what is stored in /data": ["guides/questions-operators#where-is-the-data-stored"],
    "how do I turn off the admin listener": ["reference/admin#two-listeners"],
  },
  "the administrator of a workspace": {
    "how do I limit a key to 10 requests a minute": ["reference/quotas"],
    "how do I rotate a webhook secret": ["reference/webhooks"],
    "how do I revoke an API key": ["reference/tenancy", "api/keys"],
    "revoke a leaked API key": ["guides/troubleshooting", "reference/tenancy", "api/keys"],
    "delete all recordings of a customer": ["reference/data-policy"],
    "who changed the route": ["reference/tenancy"],
    "which regions is my audio processed in": ["reference/data-policy", "providers"],
    "how long are recordings kept": ["reference/data-policy"],
    "How do I rotate an API key without breaking the app that uses it?": [
      "reference/tenancy#revocation-and-rotation",
      "api/keys#rotateKey",
      "reference/tenancy#keys-tenancy-and-secrets",
      "guides/troubleshooting#an-api-key-leaked",
    ],
    "How do I set a monthly spending limit for one app and what happens when it is reached?": [
      "guides/what-did-it-cost#limit-the-spending-of-an-app-or-a-team-by-month",
      "guides/a-team-with-a-budget#5-raise-the-budget-while-the-gateway-runs",
      "guides/a-team-with-a-budget#4-use-up-the-budget",
      "errors#BUDGET_EXCEEDED",
    ],
    "How do I make a fallback to a second provider when the first one is down?": ["guides/add-a-fallback"],
    "How do I invite a colleague and give her read-only access?": [
      "reference/tenancy#add-a-user-to-a-workspace-also-one-who-only-reads",
    ],
    "create a key for a new colleague": [
      "reference/tenancy#add-a-user-to-a-workspace-also-one-who-only-reads",
      "api/keys#createKey",
      "guides/a-team-with-a-budget#6-let-the-team-administer-itself",
    ],
    "revoke a leaked key": [
      "guides/troubleshooting#an-api-key-leaked",
      "api/keys#revokeKey",
      "reference/tenancy#revocation-and-rotation",
    ],
    "rotate the webhook secret": ["reference/webhooks#change-the-secret"],
    "limit a key to ten requests per minute": [
      "reference/quotas#quotas",
      "reference/quotas#limit-a-key-or-an-app",
      "reference/quotas#what-can-be-limited",
    ],
    "monthly spending cap for a team": [
      "guides/what-did-it-cost#limit-the-spending-of-an-app-or-a-team-by-month",
      "guides/a-team-with-a-budget#5-raise-the-budget-while-the-gateway-runs",
      "reference/budgets#budgets-plans-and-credits",
    ],
    "switch to another provider when the first one fails": [
      "guides/add-a-fallback",
      "reference/routing#outcomes-of-a-call",
    ],
    "separate two customers from each other": [
      "guides/questions-administrators#are-customers-or-teams-separated-from-each-other-isolation",
      "reference/tenancy#isolation-of-workspaces",
      "guides/a-team-with-a-budget#a-team-with-its-own-workspace-key-and-budget",
    ],
    "add Deepgram API key": ["guides/connect-a-provider"],
    "forbid a provider for one app": ["connections-and-routes#routes", "reference/data-policy#requirements"],
    "who changed this route": ["reference/tenancy#audit-log-who-changed-what", "api/audit"],
    "undo a change of a route": ["api/routes#rollBackRoute", "connections-and-routes#routes"],
    "does it support single sign-on": [
      "guides/questions-administrators#is-there-a-user-management-accounts-roles-single-sign-on-sso",
      "reference/tenancy#add-a-user-to-a-workspace-also-one-who-only-reads",
      "reference/pages#what-the-console-does-not-do",
      "reference/pages#sign-in-and-session",
    ],
    "how do I revoke a leaked api key": ["guides/troubleshooting#an-api-key-leaked"],
    "send 10% of the traffic to another provider": ["connections-and-routes#split-traffic-between-providers"],
    "split traffic between two providers by percentage": ["connections-and-routes#split-traffic-between-providers"],
    "load balancing between deepgram and openai": [
      "guides/questions-operators#does-it-balance-load-between-providers-or-split-traffic-by-weight",
    ],
    "set a monthly budget for an app": [
      "reference/budgets#budgets-plans-and-credits",
      "guides/what-did-it-cost#limit-the-spending-of-an-app-or-a-team-by-month",
    ],
    "add a new user to my workspace and make them read only": [
      "reference/tenancy#add-a-user-to-a-workspace-also-one-who-only-reads",
    ],
    "user management": ["guides/questions-administrators#is-there-a-user-management-accounts-roles-single-sign-on-sso"],
    "gdpr right to be forgotten": [
      "guides/questions-administrators#how-do-i-delete-the-data-of-a-customer-or-a-person-gdpr",
    ],
    "do providers train on my data": [
      "guides/questions-administrators#do-providers-train-on-our-recordings",
      "reference/data-policy",
    ],
    "rotate secrets": ["guides/questions-operators#how-do-i-rotate-each-secret"],
    "who can see my transcripts": [
      "guides/questions-administrators#who-can-read-our-transcripts-and-what-can-the-operator-see",
    ],
    "bring our own provider key": ["guides/questions-administrators#can-a-team-use-its-own-provider-account"],
    "delete a workspace": [
      "guides/questions-administrators#how-do-i-delete-a-workspace-or-an-app-and-can-i-undelete-it",
    ],
    "give an app a different model": [
      "guides/questions-administrators#how-do-i-change-the-default-model-or-give-one-app-another-model",
    ],
    "who used this key and when was it last used": [
      "guides/questions-administrators#who-created-a-key-who-used-it-when-was-it-last-used-which-keys-are-unused",
    ],
    "key that expires after 30 days": [
      "guides/questions-administrators#can-a-key-expire-for-example-after-30-days-or-two-weeks-temporary-access",
    ],
    "restrict a key to certain IP addresses": [
      "guides/questions-administrators#can-i-restrict-a-key-to-certain-ip-addresses-such-as-our-office-network-allowlist",
    ],
    "employee left, remove access": [
      "guides/questions-administrators#somebody-left-the-company-how-do-i-remove-a-person-employee-off-boarding",
    ],
    "rename an app": ["guides/questions-administrators#can-i-rename-an-app-a-key-or-a-workspace"],
    "move an app to another workspace": ["guides/questions-administrators#can-i-move-an-app-to-another-workspace"],
    "limit concurrent requests per app": ["reference/quotas#limit-a-key-or-an-app", "errors#CONCURRENCY_LIMITED"],
    "export configuration of a workspace to a file": [
      "guides/questions-administrators#can-i-export-the-configuration-of-a-workspace-to-a-file",
    ],
    "copy settings from staging to production": [
      "guides/questions-administrators#how-do-i-copy-settings-from-staging-to-production-is-there-a-template",
    ],
    "create workspaces automatically with terraform or api": [
      "guides/questions-administrators#is-there-a-terraform-provider-or-another-way-to-create-workspaces-automatically",
    ],
    "one team with several apps, separate budgets": [
      "guides/questions-administrators#can-several-apps-of-a-team-share-one-budget",
    ],
    "login to the console with username and password": [
      "guides/questions-administrators#is-there-a-login-with-password-or-two-factor-authentication-2fa-mfa",
    ],
    "two factor authentication": [
      "guides/questions-administrators#is-there-a-login-with-password-or-two-factor-authentication-2fa-mfa",
    ],
    "temporarily disable a key or an app": [
      "guides/questions-administrators#can-i-disable-or-block-a-key-a-user-or-an-app-temporarily-suspend",
    ],
    "set default language for an app": [
      "guides/questions-administrators#how-do-i-set-a-default-language-or-key-terms-for-an-app",
    ],
    "see all requests of one key": ["guides/questions-administrators#how-do-i-see-all-requests-of-one-key-or-one-app"],
    "export audit log": ["guides/questions-administrators#how-do-i-export-the-audit-log"],
    "how many keys can I create, limits": [
      "guides/questions-administrators#how-many-keys-apps-and-workspaces-can-i-create-is-there-a-limit",
    ],
    "recover a key I lost": ["guides/questions-administrators#i-lost-an-api-key-can-i-recover-it-or-see-it-again"],
    "what happens to an app when its route is deleted": [
      "guides/questions-administrators#what-happens-to-an-app-when-its-route-or-provider-is-deleted",
    ],
    "approve changes before they go live": [
      "guides/questions-administrators#can-changes-be-reviewed-and-approved-before-they-go-live",
    ],
    "block a user": [
      "guides/questions-administrators#can-i-disable-or-block-a-key-a-user-or-an-app-temporarily-suspend",
    ],
    "contractor access for two weeks": [
      "guides/questions-administrators#can-a-key-expire-for-example-after-30-days-or-two-weeks-temporary-access",
    ],
    "key only for reading statistics": ["guides/questions-administrators#can-a-key-be-read-only"],
    "who created this key": [
      "guides/questions-administrators#who-created-a-key-who-used-it-when-was-it-last-used-which-keys-are-unused",
    ],
    "see which keys are unused": [
      "guides/questions-administrators#who-created-a-key-who-used-it-when-was-it-last-used-which-keys-are-unused",
    ],
    "change the owner of a workspace": [
      "guides/questions-administrators#does-a-workspace-have-an-owner-can-i-change-it-or-transfer-the-workspace",
    ],
    "give one customer higher limits": [
      "guides/questions-administrators#can-i-give-one-customer-higher-limits-or-stop-one-team-from-using-too-much",
    ],
    "transfer workspace to another company": [
      "guides/questions-administrators#does-a-workspace-have-an-owner-can-i-change-it-or-transfer-the-workspace",
    ],
    "only allow requests from our office network": [
      "guides/questions-administrators#can-i-restrict-a-key-to-certain-ip-addresses-such-as-our-office-network-allowlist",
    ],
    "can a user belong to two workspaces": ["guides/questions-administrators#can-a-user-belong-to-two-workspaces"],
    "delete a key permanently": ["guides/questions-administrators#can-i-delete-a-key-permanently"],
    "is there an admin api": ["admin-api", "reference/admin"],
    "default budget for new apps": ["guides/questions-administrators#is-there-a-default-budget-for-new-apps"],
    "undelete an app": ["guides/questions-administrators#how-do-i-delete-a-workspace-or-an-app-and-can-i-undelete-it"],
    "naming rules for apps": ["guides/questions-administrators#which-names-ids-slugs-may-workspaces-and-apps-have"],
    "can administrators see transcripts": [
      "guides/questions-administrators#who-can-read-our-transcripts-and-what-can-the-operator-see",
    ],
    "permissions of the admin role": [
      "guides/questions-administrators#what-may-a-key-with-the-role-admin-do-permissions",
    ],
    "switch off chat for everybody": [
      "guides/questions-administrators#can-i-switch-off-chat-for-one-key-or-for-everybody",
    ],
    "show all routes that use deepgram": [
      "guides/questions-administrators#which-routes-and-apps-use-a-provider-such-as-deepgram",
    ],
    "audit who exported data": ["guides/questions-administrators#how-do-i-export-the-audit-log"],
    "create a new team": [
      "guides/questions-administrators#how-do-i-create-a-workspace-for-a-new-team-or-add-an-application",
    ],
    "add a new application": [
      "guides/questions-administrators#how-do-i-create-a-workspace-for-a-new-team-or-add-an-application",
    ],
    "change default model": [
      "guides/questions-administrators#how-do-i-change-the-default-model-or-give-one-app-another-model",
    ],
    "rotate all keys at once": ["guides/questions-administrators#can-i-rotate-all-keys-at-once"],
    "how to give support staff access to logs": [
      "guides/questions-administrators#how-do-i-give-support-staff-access-to-the-request-log",
    ],
    "see failed requests of my team": ["guides/questions-administrators#how-do-i-see-the-failed-requests-of-my-team"],
    "limit file size per app": [
      "guides/questions-administrators#can-i-limit-the-file-size-or-the-recording-length-for-one-app",
    ],
    "see current limits": ["api/account#getMyLimits"],
    "who deleted the app": [
      "guides/questions-administrators#who-changed-raised-or-deleted-a-budget-a-route-an-app-or-a-key",
    ],
    "gdpr data processing agreement": ["guides/questions-administrators#is-there-a-data-processing-agreement-dpa"],
    "data retention shorter than 30 days": ["reference/data-policy#how-long-data-is-kept"],
    "turn off request logging": ["guides/questions-administrators#can-i-turn-off-the-request-log"],
    "restrict languages for an app": ["guides/questions-administrators#can-i-restrict-an-app-to-certain-languages"],
    "How do I stop one team from using too much?": [
      "guides/questions-administrators#can-i-give-one-customer-higher-limits-or-stop-one-team-from-using-too-much",
    ],
    "Can I see what my colleagues changed last week?": ["reference/tenancy#audit-log-who-changed-what"],
    "How do I make sure audio never leaves Germany?": [
      "guides/questions-administrators#is-data-kept-in-europe-in-the-eu-or-in-germany-data-residency",
    ],
    "How do I test a new model without affecting users?": [
      "guides/questions-administrators#how-do-i-test-a-new-model-without-affecting-users",
    ],
    "Can a key be used by several services?": [
      "guides/questions-administrators#can-a-key-be-used-by-several-services-or-persons",
    ],
    "How do I find out who is using the old key?": [
      "guides/questions-administrators#who-created-a-key-who-used-it-when-was-it-last-used-which-keys-are-unused",
    ],
    "How do I get notified when a key is about to expire?": [
      "guides/questions-administrators#do-i-get-notified-when-a-key-is-about-to-expire",
    ],
    "Can I put users into groups?": ["guides/questions-administrators#can-i-put-users-into-groups"],
    "How do I delete everything about one person?": [
      "guides/questions-administrators#how-do-i-delete-the-data-of-a-customer-or-a-person-gdpr",
    ],
    "what happens to running requests when I revoke an api key": [
      "guides/questions-administrators#what-happens-to-running-requests-when-i-revoke-a-key",
    ],
    "does revoking a key cancel requests in progress": [
      "api/keys#revokeKey",
      "guides/troubleshooting#an-api-key-leaked",
    ],
    "give a key access to only transcription and not chat": [
      "guides/questions-administrators#can-i-give-a-key-access-to-transcription-only-or-to-chat-only-scopes",
    ],
    "someone left the company, how do I remove them and what they created": [
      "guides/questions-administrators#somebody-left-the-company-how-do-i-remove-a-person-employee-off-boarding",
    ],
    "employee offboarding, remove an administrator": [
      "guides/questions-administrators#somebody-left-the-company-how-do-i-remove-a-person-employee-off-boarding",
    ],
    "give an application its own budget of 50 euro": [
      "reference/budgets#budgets-plans-and-credits",
      "guides/a-team-with-a-budget",
    ],
    "app uses wrong model, where do I change it": [
      "guides/questions-administrators#how-do-i-change-the-default-model-or-give-one-app-another-model",
    ],
    "see who is allowed to do what": ["guides/questions-administrators#how-do-i-see-who-is-allowed-to-do-what"],
    "require that recordings are never used for training": [
      "guides/questions-administrators#do-providers-train-on-our-recordings",
    ],
    "create test key": ["guides/questions-developers#how-do-i-test-without-spending-money-are-test-keys-free"],
  },
  "who debugs a bad transcript": {
    "why are the speakers missing": [
      "guides/questions-transcripts#why-are-the-speakers-speaker-labels-missing",
      "guides/require-a-feature",
      "guides/debug-a-bad-transcript",
    ],
    "product names are spelled wrong": ["guides/debug-a-bad-transcript"],
    "why was the other provider used": ["guides/debug-a-bad-transcript", "reference/requests"],
    "which provider answered my request": ["reference/requests", "guides/debug-a-bad-transcript"],
    "The transcript has the wrong language, how do I force the language?": [
      "guides/debug-a-bad-transcript#5-typical-causes",
    ],
    "Where can I see which provider and model made this transcript?": [
      "guides/debug-a-bad-transcript#2-see-which-provider-was-used-and-why",
    ],
    "Names and product words are misspelled, can I give a vocabulary list?": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "reference/transcription#fields",
    ],
    "Two speakers are mixed up / speaker labels missing": [
      "guides/debug-a-bad-transcript#4-look-at-words-times-and-speakers",
      "guides/debug-a-bad-transcript#5-typical-causes",
    ],
    "which provider made this transcript": [
      "guides/debug-a-bad-transcript#2-see-which-provider-was-used-and-why",
      "reference/requests#the-request-log",
      "reference/requests#what-a-record-contains",
      "reference/providers#which-model-answered",
    ],
    "names are misspelled custom vocabulary": [
      "guides/questions-developers#can-i-add-a-custom-vocabulary-such-as-product-names",
      "guides/debug-a-bad-transcript#5-typical-causes",
      "reference/transcription#fields",
    ],
    "speakers are mixed up": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "guides/debug-a-bad-transcript#4-look-at-words-times-and-speakers",
    ],
    "wrong language was recognised": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "transcript is empty": ["guides/debug-a-bad-transcript#5-typical-causes", "reference/transcription#receipts"],
    "compare two models on my own recordings": [
      "guides/debug-a-bad-transcript#compare-two-models",
      "reference/pages#playground",
    ],
    "find a request by its id": [
      "guides/questions-transcripts#where-is-the-request-id-and-how-do-i-find-a-request-by-its-id",
      "guides/debug-a-bad-transcript#2-see-which-provider-was-used-and-why",
      "reference/requests#the-request-log",
      "reference/requests#lists",
      "api/account#getRequest",
      "api/requests-and-usage#getWorkspaceRequest",
    ],
    "why was a fallback used": [
      "guides/add-a-fallback#5-see-why",
      "guides/debug-a-bad-transcript#2-see-which-provider-was-used-and-why",
      "reference/requests#what-a-record-contains",
    ],
    "word error rate": [
      "guides/questions-transcripts#what-is-the-accuracy-word-error-rate-wer-of-a-model",
      "guides/local-recognition#1-choose-a-model",
      "reference/local#speech-of-people",
      "reference/local-models#models-on-this-machine-rules",
    ],
    "which provider and model produced this transcript": [
      "guides/debug-a-bad-transcript#2-see-which-provider-was-used-and-why",
    ],
    "listen to the original audio of a request": [
      "reference/data-policy#listen-to-the-original-audio-of-a-past-request",
    ],
    "where is the audio of a request stored, can I download it": [
      "reference/data-policy#listen-to-the-original-audio-of-a-past-request",
      "guides/questions-transcripts#can-i-play-or-download-the-recording-of-an-old-request",
    ],
    "transcript is cut off at the end": [
      "guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off",
    ],
    "end of the recording is missing in the transcript": [
      "guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off",
    ],
    "wrong language detected how do I force german": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "find a request when I only have the text": [
      "guides/questions-transcripts#i-only-have-the-text-of-a-transcript-how-do-i-find-its-request",
    ],
    "punctuation missing": [
      "guides/questions-transcripts#why-is-punctuation-missing-also-in-live-captions-or-are-numbers-written-as-words",
    ],
    "hallucinated text in silence": [
      "guides/questions-transcripts#why-does-the-transcript-contain-words-that-were-never-said-hallucination-such-as-thank-you-for-watching",
    ],
    "edit the transcript": ["guides/questions-transcripts#can-i-correct-a-transcript-in-patchbay"],
    "custom vocabulary": [
      "guides/questions-developers#can-i-add-a-custom-vocabulary-such-as-product-names",
      "reference/transcription#fields",
      "guides/debug-a-bad-transcript#5-typical-causes",
    ],
    "same sentence repeated over and over": [
      "guides/questions-transcripts#why-is-the-same-sentence-repeated-over-and-over",
    ],
    "wrong number of speakers, expected 2 got 5": [
      "guides/questions-transcripts#why-is-the-number-of-speakers-wrong-too-many-too-few-two-people-as-one-s1-for-everybody",
    ],
    "timestamps are shifted by a few seconds": [
      "guides/questions-transcripts#why-are-the-times-timestamps-shifted-or-captions-too-early-too-late-or-out-of-sync-with-the-video",
    ],
    "two languages in one recording": ["guides/questions-transcripts#what-if-two-languages-are-mixed-in-one-recording"],
    "background noise makes transcript bad": [
      "guides/questions-transcripts#what-can-i-do-about-background-noise-or-music-in-the-recording",
    ],
    "first words are missing": [
      "guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off",
      "guides/questions-transcripts#why-are-the-first-words-of-live-captions-lost",
    ],
    "beginning of live captions lost": ["guides/questions-transcripts#why-are-the-first-words-of-live-captions-lost"],
    "low confidence words": ["guides/questions-transcripts#how-do-i-find-words-with-a-low-confidence"],
    "reproduce a bad transcript from last week, replay the request": [
      "guides/questions-transcripts#can-i-reproduce-a-bad-transcript-replay-or-repeat-an-old-request",
    ],
    "why was a different model used than yesterday": [
      "guides/questions-transcripts#why-was-another-model-used-than-yesterday",
    ],
    "transcript stops in the middle": ["guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off"],
    "accents or umlauts wrong, encoding problem": [
      "guides/questions-transcripts#why-is-the-text-garbled-umlauts-accents-or-other-characters-wrong-encoding",
    ],
    "swiss german dialect recognized badly": [
      "guides/questions-transcripts#why-is-a-dialect-or-an-accent-recognised-badly",
    ],
    "numbers and phone numbers wrong": ["guides/questions-transcripts#why-are-numbers-amounts-or-phone-numbers-wrong"],
    "raw response of the provider": ["guides/questions-transcripts#can-i-see-the-raw-response-of-the-provider"],
    "request id missing from my logs": [
      "guides/questions-transcripts#where-is-the-request-id-and-how-do-i-find-a-request-by-its-id",
    ],
    "live transcript is delayed, high latency": [
      "guides/questions-transcripts#why-is-the-live-transcript-delayed-latency",
    ],
    "warning PREFERENCE_DROPPED": ["reference/transcription#required-features-and-preferences"],
    "transcript in uppercase without punctuation": [
      "guides/questions-transcripts#why-is-punctuation-missing-also-in-live-captions-or-are-numbers-written-as-words",
    ],
    "music recognised as text": [
      "guides/questions-transcripts#what-can-i-do-about-background-noise-or-music-in-the-recording",
    ],
    "speaker names instead of S1 S2": [
      "guides/questions-transcripts#how-do-i-show-the-names-of-speakers-instead-of-s1-and-s2",
    ],
    "empty result but http 200": ["guides/questions-transcripts#why-is-the-result-empty-although-the-status-is-200"],
    "quality got worse after update": [
      "guides/questions-transcripts#why-did-the-quality-get-worse-after-an-update-or-over-time",
    ],
    "text is garbled": [
      "guides/questions-transcripts#why-is-the-text-garbled-umlauts-accents-or-other-characters-wrong-encoding",
    ],
    "words in wrong order": ["guides/questions-transcripts#why-are-words-or-sentences-in-the-wrong-order"],
    "speaker 1 and 2 swapped": ["guides/questions-transcripts#why-are-speaker-1-and-2-swapped"],
    "transcript is much shorter than the recording": [
      "guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off",
    ],
    "why is there no punctuation": [
      "guides/questions-transcripts#why-is-punctuation-missing-also-in-live-captions-or-are-numbers-written-as-words",
    ],
    "punctuation in live captions": [
      "guides/questions-transcripts#why-is-punctuation-missing-also-in-live-captions-or-are-numbers-written-as-words",
    ],
    "numbers spelled out": ["guides/questions-transcripts#why-are-numbers-amounts-or-phone-numbers-wrong"],
    "where do I see the prompt that was used": [
      "guides/questions-transcripts#where-can-i-see-the-prompt-or-the-text-that-was-sent",
    ],
    "same file gives different results": ["guides/questions-transcripts#why-do-i-get-a-different-transcript-each-time"],
    "model ignores my keyterms": ["guides/questions-transcripts#why-does-the-model-ignore-my-key-terms-keyterms"],
    "captions out of sync with the video": [
      "guides/questions-transcripts#why-are-the-times-timestamps-shifted-or-captions-too-early-too-late-or-out-of-sync-with-the-video",
    ],
    "only one channel was transcribed": [
      "guides/questions-transcripts#why-was-only-one-channel-of-a-stereo-recording-transcribed",
    ],
    "request took 2 minutes why": ["guides/questions-transcripts#why-did-a-request-take-so-long-minutes"],
    "which route was used": [
      "guides/questions-transcripts#which-route-provider-or-model-was-used-for-a-request-which-one-transcribed-my-file",
    ],
    "error 422 what is missing": [
      "guides/troubleshooting#422-required_feature_unsupported-no-model-of-the-route-can-do-it",
    ],
    "whisper invents thank you for watching": [
      "guides/questions-transcripts#why-does-the-transcript-contain-words-that-were-never-said-hallucination-such-as-thank-you-for-watching",
    ],
    "transcript in english although speech is french": [
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "two people labeled as one speaker": [
      "guides/questions-transcripts#why-is-the-number-of-speakers-wrong-too-many-too-few-two-people-as-one-s1-for-everybody",
    ],
    "time to first word slow": ["guides/troubleshooting#a-response-is-slow"],
    "error 503 all the time": ["guides/troubleshooting#503-no_healthy_provider-every-target-failed"],
    "job stuck in processing": ["guides/questions-transcripts#why-is-a-job-stuck-in-processing-or-queued"],
    "result expired": ["guides/questions-transcripts#why-has-the-result-of-a-job-expired"],
    "captions too long lines": ["guides/questions-developers#can-i-change-the-line-length-of-captions"],
    "wrong date formats": ["guides/questions-transcripts#why-are-numbers-amounts-or-phone-numbers-wrong"],
    "audio file is corrupt how do I see that": [
      "guides/questions-transcripts#how-do-i-see-that-an-audio-file-is-corrupt",
    ],
    "what does unknown outcome mean": ["errors#PROVIDER_RESULT_UNKNOWN", "reference/routing#outcomes-of-a-call"],
    "simulated text instead of my speech": [
      "guides/questions-transcripts#why-do-i-get-good-morning-this-is-the-harbour-office-simulated-text-instead-of-my-speech",
    ],
    "good morning this is the harbour office": [
      "guides/questions-transcripts#why-do-i-get-good-morning-this-is-the-harbour-office-simulated-text-instead-of-my-speech",
    ],
    "language null in the answer": ["guides/questions-transcripts#why-is-language-null-in-the-answer"],
    "Why does it say S1 for everybody?": [
      "guides/questions-transcripts#why-is-the-number-of-speakers-wrong-too-many-too-few-two-people-as-one-s1-for-everybody",
    ],
    "Why are there no word timestamps in my response?": [
      "guides/questions-developers#how-do-i-get-timestamps-the-times-of-every-word",
    ],
    "The transcript is in the wrong alphabet": [
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "Why do two requests with the same audio have different cost?": [
      "guides/questions-costs#why-do-two-requests-with-the-same-audio-have-a-different-cost",
    ],
    "Why did the request fall back to another provider?": [
      "guides/questions-transcripts#why-did-a-request-fall-back-to-another-provider-fallback",
    ],
    "The audio plays fine but the transcript is nonsense": [
      "guides/questions-transcripts#why-is-the-transcript-nonsense-or-in-the-wrong-language-and-how-do-i-force-a-language",
    ],
    "Why do I see [redacted] in the text?": [
      "guides/questions-transcripts#why-is-text-replaced-by-something-like-redacted-or-",
    ],
    "Captions appear too early": [
      "guides/questions-transcripts#why-are-the-times-timestamps-shifted-or-captions-too-early-too-late-or-out-of-sync-with-the-video",
    ],
    "Why is my recording rejected as too short?": [
      "guides/questions-transcripts#why-is-my-recording-rejected-as-too-short",
    ],
    "transcript is missing the last few seconds of audio": [
      "guides/debug-a-bad-transcript#the-beginning-or-the-end-is-missing-or-cut-off",
    ],
    "speech of the second person is missing": [
      "guides/questions-transcripts#why-is-the-speech-of-the-second-person-missing",
    ],
    "request failed with PROVIDER_TIMEOUT": ["errors#PROVIDER_TIMEOUT"],
    "transcript has timestamps but no speakers": ["guides/require-a-feature#2-request-speakers"],
    "where are the logs of one request": ["reference/requests#the-request-log"],
    "why was my request rejected although the file is fine": [
      "guides/questions-transcripts#why-was-my-request-rejected-although-the-file-is-fine",
    ],
  },
  "who pays": {
    "how much did my team spend this month": ["guides/what-did-it-cost"],
    "stop spending at 100 dollars a month": ["guides/a-team-with-a-budget", "reference/budgets"],
    "the provider's invoice does not match usage": ["guides/what-did-it-cost"],
    "What did we spend last month per team or app?": ["guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent"],
    "How is the cost of a request calculated, where do the prices come from?": [
      "guides/what-did-it-cost#1-enter-a-price",
      "guides/what-did-it-cost#2-know-the-price-before-the-request",
      "reference/metering#prices-and-billing-classes",
      "configuration#prices",
    ],
    "Am I charged for failed requests or retries?": ["guides/what-did-it-cost#failed-requests-and-retries"],
    "Export the costs as CSV for accounting": [
      "guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent",
      "reference/usage#CSV",
    ],
    "what did each team spend last month": ["guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent"],
    "how is the price of a request computed": [
      "guides/what-did-it-cost#1-enter-a-price",
      "guides/what-did-it-cost#2-know-the-price-before-the-request",
      "reference/metering#prices-and-billing-classes",
      "configuration#prices",
    ],
    "do I pay for failed requests": [
      "guides/what-did-it-cost#failed-requests-and-retries",
      "reference/metering#settlement",
    ],
    "export usage as CSV for the accounting department": [
      "guides/questions-costs#does-it-write-invoices-or-receipts",
      "guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent",
      "reference/usage#CSV",
    ],
    "which model is cheapest": [
      "guides/what-did-it-cost#which-model-is-the-cheapest",
      "providers#list-prices-of-speech-models",
    ],
    "warning before the budget is used up": [
      "operations#budgets-that-run-out",
      "operations#patchbaybudgetnearlyspent",
      "reference/alerts#events",
      "reference/budgets#budgets",
    ],
    "what happens when the budget is exhausted": [
      "guides/a-team-with-a-budget#4-use-up-the-budget",
      "guides/troubleshooting#402-budget_exceeded-429-rate_limited-429-concurrency_limited-a-limit-was-reached",
      "guides/what-did-it-cost#limit-the-spending-of-an-app-or-a-team-by-month",
      "operations#budgets-that-run-out",
      "errors#BUDGET_EXCEEDED",
    ],
    "refund or correct a wrong charge": [
      "guides/what-did-it-cost#failed-requests-and-retries",
      "reference/budgets#plans-and-credits",
    ],
    "are silent minutes billed": ["guides/what-did-it-cost#3-one-request"],
    "how much did we spend last month per team": ["guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent"],
    "what happens when the budget is used up": [
      "guides/a-team-with-a-budget#4-use-up-the-budget",
      "errors#BUDGET_EXCEEDED",
    ],
    "do I pay twice when a request is retried or falls over to another provider": [
      "guides/what-did-it-cost#failed-requests-and-retries",
    ],
    "where do the prices come from and can I change them to our negotiated rate": [
      "guides/what-did-it-cost#1-enter-a-price",
      "configuration#prices",
    ],
    "is it free": ["guides/questions-costs#what-does-patchbay-cost-total-cost-of-ownership-and-is-there-a-free-tier"],
    "monthly invoice pdf": ["guides/questions-costs#does-it-write-invoices-or-receipts"],
    "prices in euro": ["guides/questions-costs#can-i-use-euros-or-another-currency-than-usd"],
    vat: ["guides/questions-costs#are-taxes-such-as-vat-included"],
    "change past charges": [
      "guides/questions-costs#can-i-change-a-price-afterwards-for-past-requests",
      "reference/metering#settlement",
    ],
    "rounding of seconds": ["guides/questions-costs#are-seconds-rounded-up-and-is-there-a-minimum-charge"],
    "email alert when budget is almost used up": [
      "guides/questions-costs#do-i-get-an-email-or-a-slack-message-when-most-of-a-budget-is-used-80-",
    ],
    "slack message when 80 percent spent": [
      "guides/questions-costs#do-i-get-an-email-or-a-slack-message-when-most-of-a-budget-is-used-80-",
    ],
    "bill from openai is higher than the dashboard": [
      "guides/what-did-it-cost#the-providers-invoice-bill-is-different-and-does-not-match",
    ],
    "forecast end of month cost": ["reference/budgets#forecast-budgetsforecast"],
    "charge each of my customers separately": [
      "guides/questions-costs#how-do-i-charge-each-of-my-customers-separately",
    ],
    "minimum charge per request": ["guides/questions-costs#are-seconds-rounded-up-and-is-there-a-minimum-charge"],
    "do we pay for cancelled requests": [
      "guides/questions-costs#do-we-pay-for-cancelled-requests-or-when-a-caller-hangs-up",
    ],
    "cost of a live session, is silence in streaming billed": [
      "guides/questions-costs#what-does-a-live-session-cost-and-is-silence-in-streaming-charged",
    ],
    "are cached tokens cheaper": ["guides/questions-costs#are-cached-tokens-or-repeated-prompts-cheaper"],
    "usage of the whole year as csv": ["guides/questions-costs#how-do-i-get-the-usage-of-a-whole-year-as-csv"],
    "prepaid credits for a team": [
      "reference/budgets#budgets-plans-and-credits",
      "reference/budgets#plans-and-credits",
    ],
    "change of plan in the middle of the month": [
      "guides/questions-costs#what-happens-when-the-plan-of-a-workspace-changes-in-the-middle-of-the-month",
    ],
    "how much did one recording cost": ["guides/questions-costs#how-much-did-one-recording-or-one-request-cost"],
    "cost per user": ["guides/questions-costs#how-much-does-each-user-or-person-cost"],
    "does a sandbox or test request cost money": [
      "guides/questions-developers#how-do-i-test-without-spending-money-are-test-keys-free",
    ],
    "discount or negotiated price per customer": [
      "guides/questions-costs#can-each-customer-have-another-price-or-discount",
    ],
    "how far back can I see costs": ["guides/questions-costs#how-far-back-can-i-see-usage-and-costs"],
    "who spent the most money yesterday": [
      "guides/questions-costs#who-spent-the-most-yesterday-which-customer-app-or-key-caused-the-high-bill",
    ],
    "is there a hard stop so that we never exceed 500 dollars": [
      "guides/questions-costs#is-there-a-hard-stop-so-that-we-never-overspend-or-exceed-an-amount-such-as-500-dollars",
    ],
    "how accurate are the costs": ["guides/questions-costs#how-accurate-are-the-costs-that-are-shown"],
    "price of local whisper per hour": [
      "guides/questions-costs#is-a-model-on-our-own-machine-local-whisper-free-or-what-is-its-price",
    ],
    "cost of storage and server per month": ["scaling#what-it-costs-to-run"],
    "do I get a receipt": ["guides/questions-costs#does-it-write-invoices-or-receipts"],
    "total cost of ownership": [
      "guides/questions-costs#what-does-patchbay-cost-total-cost-of-ownership-and-is-there-a-free-tier",
    ],
    "what costs more live or batch": ["guides/questions-costs#is-live-audio-more-expensive-than-a-file-or-a-job"],
    "stop all spending now": ["guides/questions-costs#how-do-i-stop-all-spending-at-once"],
    "which app is the most expensive": [
      "guides/questions-costs#who-spent-the-most-yesterday-which-customer-app-or-key-caused-the-high-bill",
    ],
    "why was I charged twice": ["guides/questions-costs#why-was-i-charged-twice-for-one-recording"],
    "how is stereo billed": ["guides/questions-costs#how-is-stereo-billed-does-each-channel-cost"],
    "is translation charged extra": ["guides/questions-costs#is-a-translation-charged-extra"],
    "free minutes per month": [
      "guides/questions-costs#what-does-patchbay-cost-total-cost-of-ownership-and-is-there-a-free-tier",
    ],
    "estimate cost for 1000 hours": ["guides/questions-costs#how-do-i-estimate-the-cost-of-1000-hours"],
    "currency exchange": ["guides/questions-costs#can-i-use-euros-or-another-currency-than-usd"],
    "monthly report by email": ["guides/questions-costs#is-there-a-monthly-report-by-email"],
    "cost center tags": ["guides/questions-costs#are-there-tags-cost-centers-or-projects-for-costs"],
    "unused credits expire": ["guides/questions-costs#do-unused-credits-expire"],
    "who raised the budget": [
      "guides/questions-administrators#who-changed-raised-or-deleted-a-budget-a-route-an-app-or-a-key",
    ],
    "do webhooks cost money": [
      "guides/questions-costs#is-storage-charged-or-do-webhooks-polls-and-failed-validations-cost-money",
    ],
    "is the fallback more expensive": ["guides/questions-costs#is-a-fallback-more-expensive"],
    "budget reset date": ["guides/questions-costs#when-does-a-budget-reset-and-is-there-a-weekly-or-yearly-budget"],
    "weekly budget": ["guides/questions-costs#when-does-a-budget-reset-and-is-there-a-weekly-or-yearly-budget"],
    "who pays for the provider account": ["guides/questions-costs#who-pays-the-provider-whose-account-is-billed"],
    "budget in minutes instead of dollars": [
      "guides/questions-costs#can-a-budget-be-in-minutes-or-tokens-instead-of-dollars",
    ],
    "limit tokens for chat": ["guides/questions-costs#can-a-budget-be-in-minutes-or-tokens-instead-of-dollars"],
    "who can change prices": ["guides/questions-costs#who-can-change-prices"],
    "show costs in grafana": ["guides/questions-costs#can-i-show-costs-in-grafana"],
    "cost by model": ["guides/questions-costs#how-much-does-each-model-or-provider-cost-us"],
    "are test keys free": ["guides/questions-developers#how-do-i-test-without-spending-money-are-test-keys-free"],
    "charge for storage": [
      "guides/questions-costs#is-storage-charged-or-do-webhooks-polls-and-failed-validations-cost-money",
    ],
    "budget shared between two keys": ["guides/questions-costs#do-several-keys-share-one-budget"],
    "overspend possible": [
      "guides/questions-costs#is-there-a-hard-stop-so-that-we-never-overspend-or-exceed-an-amount-such-as-500-dollars",
    ],
    "refund after outage": ["guides/what-did-it-cost#failed-requests-and-retries"],
    "trial credits for a new customer": ["reference/budgets#plans-and-credits"],
    "Can I set a limit so that no one spends more than 20 dollars a day?": [
      "guides/questions-costs#can-i-set-a-limit-of-20-dollars-a-day-for-everybody",
    ],
    "What happens with the money if the provider fails?": ["guides/what-did-it-cost#failed-requests-and-retries"],
    "Is there a discount for large volumes?": [
      "guides/questions-costs#can-each-customer-have-another-price-or-discount",
    ],
    "Where do I see the bill for October?": [
      "guides/questions-costs#where-do-i-see-the-costs-the-bill-of-a-month-such-as-october",
    ],
    "How much would it cost to transcribe 500 hours a month?": [
      "guides/questions-costs#how-do-i-estimate-the-cost-of-1000-hours",
    ],
    "Do I pay Patchbay or the provider?": ["guides/questions-costs#who-pays-the-provider-whose-account-is-billed"],
    "How do I know which customer caused the high bill?": [
      "guides/questions-costs#who-spent-the-most-yesterday-which-customer-app-or-key-caused-the-high-bill",
    ],
    "Does a longer silence cost money?": [
      "guides/questions-costs#what-does-a-live-session-cost-and-is-silence-in-streaming-charged",
    ],
    "What does a token cost?": ["guides/questions-costs#what-does-a-token-cost"],
    "Can finance get read-only access?": ["guides/questions-costs#can-finance-see-the-costs-without-other-rights"],
    "why does the cost in the dashboard not match the invoice from OpenAI": [
      "guides/what-did-it-cost#the-providers-invoice-bill-is-different-and-does-not-match",
    ],
    "openai bill is different from the usage report": [
      "guides/what-did-it-cost#the-providers-invoice-bill-is-different-and-does-not-match",
    ],
    "are failed requests and retries charged": ["guides/what-did-it-cost#failed-requests-and-retries"],
    "get an email when 80% of the budget is used": [
      "guides/questions-costs#do-i-get-an-email-or-a-slack-message-when-most-of-a-budget-is-used-80-",
    ],
    "budget soft limit notification email": [
      "guides/questions-costs#do-i-get-an-email-or-a-slack-message-when-most-of-a-budget-is-used-80-",
    ],
    "how much did each team spend last month, export to csv": [
      "guides/what-did-it-cost#5-how-much-each-team-app-and-key-spent",
    ],
    "cost of deepgram vs openai": [
      "guides/questions-costs#what-do-deepgram-openai-and-other-providers-cost-in-comparison",
    ],
    "why is usage zero although we made requests": [
      "guides/questions-costs#why-is-the-usage-or-the-charge-zero-although-we-made-requests",
    ],
    "budget was reached too early": ["guides/questions-costs#why-was-a-budget-reached-too-early-before-it-was-spent"],
    "what does provider_billed mean": [
      "reference/metering#billing-class-meteringbilling-class",
      "guides/questions-costs#who-pays-the-provider-whose-account-is-billed",
    ],
    "can I get last years numbers": ["guides/questions-costs#how-do-i-get-the-usage-of-a-whole-year-as-csv"],
  },
};
