// Questions of users with the sections that answer them, for the test of the search. Each list was written before its writer looked at the headings of the
// documentation. A question has several right sections if each of them answers it; a page without a section stands for all of its sections.

export type Questions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Questions by the user who asks them. */
export const QUESTIONS: Questions = {
  "the developer of an application": {
    "how do I use the OpenAI SDK with this": ["reference/compatible", "guides/move-from-openai"],
    "how do I get subtitles for a video": ["reference/captions"],
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
      "guides/questions-developers#how-do-i-get-notified-when-a-job-is-finished-callback",
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
      "guides/require-a-feature#2-request-speakers",
      "reference/transcription#fields",
    ],
    "is ogg opus supported": [
      "guides/questions-developers#which-audio-formats-file-types-and-sizes-can-i-upload-flac-ogg-aac-video",
      "reference/measuring#formats",
    ],
    "transcribe a youtube video": [
      "guides/questions-developers#can-it-transcribe-a-youtube-link-or-a-file-in-my-bucket",
    ],
    "call the api from javascript in the browser cors": [
      "guides/questions-developers#can-i-call-it-from-a-browser-or-a-mobile-app",
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
    "cache identical requests": ["guides/questions-developers#is-the-same-recording-sent-twice-answered-from-a-cache"],
    "azure speech": ["guides/questions-developers#does-it-support-azure-speech-or-amazon-transcribe-aws"],
    "phone call audio 8khz": [
      "guides/questions-developers#does-it-accept-recordings-of-phone-calls-telephone-8khz-µ-law-stereo",
    ],
    "partial results": ["guides/questions-developers#are-there-partial-interim-results-while-somebody-speaks"],
    "real time translation": ["guides/questions-developers#can-it-translate-into-another-language-than-english"],
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
    "does it support mysql": ["guides/questions-operators#can-i-use-mysql-or-sqlite"],
    "nvidia gpu acceleration": ["guides/questions-operators#does-it-need-or-use-a-gpu"],
    "deploy in multiple regions": ["guides/questions-operators#can-it-run-in-several-regions", "scaling#regions"],
    "corporate proxy for outgoing calls": [
      "guides/questions-operators#can-it-reach-providers-through-an-http-proxy-or-a-vpn",
    ],
    "does it send usage statistics to you": [
      "guides/questions-operators#does-it-collect-telemetry-or-send-usage-statistics",
    ],
    "open source license": ["guides/questions-operators#which-licence-does-it-have-is-it-open-source"],
    "how many requests per second": ["guides/questions-operators#how-many-users-and-requests-can-one-server-handle"],
    "enable debug logging": ["guides/questions-operators#how-do-i-change-the-log-level-or-see-debug-logs"],
    "how much ram": [
      "guides/questions-operators#how-much-memory-ram-does-it-need-which-nodejs-version-and-does-it-need-redis",
    ],
    "is there a docker image on docker hub": ["guides/questions-operators#is-there-a-docker-image-on-docker-hub"],
    "has it been tested with real providers": [
      "guides/questions-operators#is-it-ready-for-production-and-has-it-been-tested-with-real-providers",
    ],
    "where is the data stored on disk": ["guides/questions-operators#where-is-the-data-stored"],
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
    "gdpr right to be forgotten": ["guides/questions-administrators#how-do-i-delete-the-data-of-a-customer-gdpr"],
    "do providers train on my data": [
      "guides/questions-administrators#do-providers-train-on-our-recordings",
      "reference/data-policy",
    ],
    "rotate secrets": ["guides/questions-operators#how-do-i-rotate-each-secret"],
    "who can see my transcripts": ["guides/questions-administrators#who-can-read-our-transcripts"],
    "bring our own provider key": ["guides/questions-administrators#can-a-team-use-its-own-provider-account"],
    "delete a workspace": ["guides/questions-administrators#how-do-i-delete-a-workspace-or-an-app"],
    "give an app a different model": ["guides/questions-administrators#how-do-i-give-one-app-another-model"],
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
      "guides/debug-a-bad-transcript#5-typical-causes",
      "reference/transcription#fields",
    ],
    "speakers are mixed up": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "guides/debug-a-bad-transcript#4-look-at-words-times-and-speakers",
    ],
    "wrong language was recognised": [
      "guides/debug-a-bad-transcript#5-typical-causes",
      "guides/questions-transcripts#why-is-the-language-of-the-transcript-wrong-and-how-do-i-force-a-language",
    ],
    "transcript is empty": ["guides/debug-a-bad-transcript#5-typical-causes", "reference/transcription#receipts"],
    "compare two models on my own recordings": [
      "guides/debug-a-bad-transcript#compare-two-models",
      "reference/pages#playground",
    ],
    "find a request by its id": [
      "guides/questions-transcripts#how-do-i-find-a-request-by-its-id",
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
      "guides/questions-transcripts#why-is-the-language-of-the-transcript-wrong-and-how-do-i-force-a-language",
    ],
    "find a request when I only have the text": [
      "guides/questions-transcripts#i-only-have-the-text-of-a-transcript-how-do-i-find-its-request",
    ],
    "punctuation missing": ["guides/questions-transcripts#why-is-punctuation-missing-or-are-numbers-written-as-words"],
    "hallucinated text in silence": [
      "guides/questions-transcripts#why-does-the-transcript-contain-words-that-were-never-said-hallucination",
    ],
    "edit the transcript": ["guides/questions-transcripts#can-i-correct-a-transcript-in-patchbay"],
    "custom vocabulary": ["reference/transcription#fields", "guides/debug-a-bad-transcript#5-typical-causes"],
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
      "guides/questions-costs#does-it-write-invoices",
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
    "is it free": ["guides/questions-costs#what-does-patchbay-cost-and-is-there-a-free-tier"],
    "monthly invoice pdf": ["guides/questions-costs#does-it-write-invoices"],
    "prices in euro": ["guides/questions-costs#can-i-use-euros-or-another-currency-than-usd"],
    vat: ["guides/questions-costs#are-taxes-such-as-vat-included"],
    "change past charges": [
      "guides/questions-costs#can-i-change-a-price-afterwards-for-past-requests",
      "reference/metering#settlement",
    ],
    "rounding of seconds": ["guides/questions-costs#are-seconds-rounded-up-and-is-there-a-minimum-charge"],
  },
};
