// What each error code means to the person who meets it: what happened, why, what to do, and an example of the answer. The pages docs/errors.md and
// /docs/errors are generated from these texts [errors.story].
import type { ErrorCode, ErrorDetails } from "./errors.ts";
import type { JobOnlyErrorCode } from "./jobs.ts";

export interface ErrorStory {
  readonly happened: string;
  readonly why: string;
  /** Values of `details.reason`. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** What to do. */
  readonly action: string;
  /** What a gateway answered. Status, type and links come from the catalogue. */
  readonly example: ErrorExample;
}

export interface ErrorExample {
  readonly message: string;
  readonly param?: string;
  readonly details?: ErrorDetails;
  /** Where it depends on the case. */
  readonly retryable?: boolean;
}

export const ERROR_STORIES: Readonly<Record<ErrorCode | JobOnlyErrorCode, ErrorStory>> = {
  INVALID_REQUEST: {
    happened: "The gateway refused the request before it did anything.",
    why: "A field, a header or the body is malformed, unknown or of the wrong type. `param` names the first error, and `details.issues` lists all of them.",
    action: "Correct the request. Repeated unchanged, it gets the same answer.",
    example: {
      message: "`timestamp` is not a field of this endpoint. Did you mean `timestamps`?",
      param: "timestamp",
      details: {
        issues: [
          { param: "timestamp", message: "`timestamp` is not a field of this endpoint. Did you mean `timestamps`?" },
        ],
      },
    },
  },
  ROUTE_CONTROL_FIELD_REJECTED: {
    happened: "The gateway refused a field that chooses a provider or a model.",
    why: "The route of the API key chooses both. The refused fields are `provider`, `model`, `audio.provider` and `audio.model`.",
    action: "Remove the field. To select a route, send a `purpose`; `GET /v1/me` lists the ones of your key.",
    example: {
      message:
        "`model` must not be sent: the route of the API key chooses provider and model. Remove it. To select a route, send a `purpose`.",
      param: "model",
    },
  },
  AUDIO_URL_REJECTED: {
    happened: "The gateway did not fetch the `audio.url`. Nothing was called or charged.",
    why: "The address, or a redirect of it, breaks a rule for remote audio. `details.reason` names the rule:",
    reasons: {
      malformed: "it is not a plain https URL in ASCII",
      scheme: "it does not begin with `https://`",
      port: "its port is not allowed; use 443",
      host_not_allowed: "its host is not on the workspace's list",
      address_not_public: "its host has an address that is not public, or is one",
      too_many_redirects: "it redirects too often",
      missing_content_length: "its server does not declare a length",
      unsupported_content_type: "its server does not declare a supported audio type",
    },
    action:
      "Send an address that follows the rules. An administrator adds hosts with `PUT /workspace/{tenant_id}/audio-url-domains`. To see which rule an address breaks, send it to `POST /workspace/{tenant_id}/audio-url-domains/check`.",
    example: {
      message:
        "The host of audio.url, or of a redirect, is neither on the allowlist of this workspace nor on the global one. An administrator of the workspace can add it (PUT /workspace/{tenant_id}/audio-url-domains).",
      param: "audio.url",
      details: { reason: "host_not_allowed" },
    },
  },
  MODEL_NOT_SELECTABLE: {
    happened: "The gateway refused the value of `model` on an OpenAI-compatible endpoint.",
    why: "The route of the API key selects the model. The only values are `auto` and `purpose/<label>`.",
    action: "Send `auto`, or a value that `GET /v1/models` lists.",
    example: {
      message:
        "model must be `auto` or `purpose/<label>`: the route of the API key selects the model. GET /v1/models lists the allowed values.",
      param: "model",
    },
  },
  UNAUTHENTICATED: {
    happened: "The gateway does not accept the API key.",
    why: "The key in `Authorization: Bearer …` is missing, malformed, unknown, revoked or expired. The answer is the same in all these cases, so that it tells an attacker nothing.",
    action:
      "Send a valid key of this gateway. An administrator sees the state of a key in the console or with `patchbay keys list`.",
    example: { message: "Send a valid API key as Authorization: Bearer <key>." },
  },
  BUDGET_EXCEEDED: {
    happened: "The gateway refused the request because of a budget. Nothing was called or charged.",
    why: "The request could exceed one of the app's budgets. `details` has the limit, the spent and reserved amounts, what this request needs, and when the budget resets.",
    action:
      "Wait until `details.resets_at`, or ask an administrator of the workspace to raise the budget. `GET /v1/me/limits` shows what remains.",
    example: {
      message: "This request could exceed the app's month budget of 0.0001 USD. Nothing was called or charged.",
      details: {
        kind: "usd",
        period: "month",
        limit: "0.0001",
        spent: "0.00",
        reserved: "0.00",
        requested: "0.000144444",
        resets_at: "2026-12-01T00:00:00.000Z",
      },
    },
  },
  CREDITS_REQUIRED: {
    happened: "The gateway refused the request because of the workspace's plan. Nothing was called or charged.",
    why: "The request needs a metered model, and the plan has too few credits left. Plain chat uses the plan's monthly tokens first. Tools, JSON mode, images, audio and transcription always need credits. The code is also returned if only a shared model without a price could serve.",
    action: "Ask the operator for credits or another plan, or connect a provider account of your own.",
    example: {
      message:
        "The workspace's plan does not cover this request: plain chat uses its monthly tokens, everything else its credits. Add credits, or connect your own provider account.",
    },
  },
  FORBIDDEN: {
    happened: "The key is valid, but may not use this endpoint.",
    why: "The role or the scopes of the key do not allow it. `details.required` names what is missing.",
    action: "Use another key, or ask an administrator to change this one.",
    example: { message: "This key lacks the scope chat.", details: { required: ["chat"] } },
  },
  JOB_NOT_FOUND: {
    happened: "The gateway found no such job.",
    why: "The app of the key has no job with this id. Jobs of other apps look the same.",
    action: "Check the id, and use a key of the app that submitted the job.",
    example: { message: "The job does not exist." },
  },
  NOT_FOUND: {
    happened: "The gateway found nothing at this path.",
    why: "The path does not exist, the object was deleted, or it belongs to another workspace.",
    action: "Check the spelling: the message names the nearest path. `/docs/api` lists all endpoints.",
    example: {
      message: "There is nothing at this path. Did you mean /v1/transcription? GET /docs/api lists all endpoints.",
    },
  },
  METHOD_NOT_ALLOWED: {
    happened: "The path exists, but not with this method.",
    why: "Each path supports the methods that the `Allow` header lists.",
    action: "Send one of the listed methods.",
    example: { message: "This path supports POST.", details: { allow: ["POST"] } },
  },
  NOT_ACCEPTABLE: {
    happened: "The gateway cannot answer in the form that the request asks for.",
    why: "The answer exists in none of the media types in `Accept`. `details.media_types` lists those that it has.",
    action: "Send `Accept: application/json`, or set `response_format` to the form that you accept.",
    example: {
      message:
        "None of the media types in Accept can be produced; this endpoint produces application/json, text/plain, application/x-subrip, text/vtt.",
      param: "accept",
      details: { media_types: ["application/json", "text/plain", "application/x-subrip", "text/vtt"] },
    },
  },
  REQUEST_TIMEOUT: {
    happened: "The gateway closed the connection before the request was complete. Nothing was called or charged.",
    why: "The headers or the body arrived too slowly.",
    action:
      "Send the request again over a faster connection. Long recordings can be fetched by the gateway: send `audio.url`.",
    example: {
      message: "The request body arrived at less than 8192 bytes per second. Nothing was called or charged.",
      details: { min_body_bytes_per_second: 8_192 },
    },
  },
  URI_TOO_LONG: {
    happened: "The gateway refused the request because of its address.",
    why: "Path and query are longer than 8 KiB together.",
    action: "Send long values in the body.",
    example: { message: "The request target is longer than 8192 bytes.", details: { max_target_bytes: 8_192 } },
  },
  EXPECTATION_FAILED: {
    happened: "The gateway refused the header `Expect`.",
    why: "Only `Expect: 100-continue` is supported.",
    action: "Remove the header, or send that value.",
    example: { message: "Only Expect: 100-continue is supported.", param: "expect" },
  },
  HEADERS_TOO_LARGE: {
    happened: "The gateway refused the request because of its headers.",
    why: "The headers exceed 16 KiB or 100 fields. Cookies of other applications on the same domain are a common cause.",
    action: "Send fewer or shorter headers.",
    example: {
      message: "The headers exceed 16384 bytes or 100 fields.",
      details: { max_header_bytes: 16_384, max_header_fields: 100 },
    },
  },
  IDEMPOTENCY_KEY_REUSED: {
    happened: "The gateway refused an `Idempotency-Key` that it knows.",
    why: "The key was used before with another payload or on another endpoint. An `audio.url` counts as a whole: with a new signature it is another payload.",
    action: "Use a new key for each new request. Repeat a request with exactly the same payload.",
    example: {
      message:
        "This Idempotency-Key was used before with another payload or on another endpoint. Use a new key for a new request.",
      param: "idempotency-key",
    },
  },
  IDEMPOTENCY_REPLAY_IN_PROGRESS: {
    happened: "The gateway did not begin this request a second time.",
    why: "The first request with this `Idempotency-Key` is still running.",
    action: "Retry after a few seconds with the same key. You then get the answer of the first request.",
    example: {
      message:
        "The first request with this Idempotency-Key is still running. Retry after a few seconds with the same key.",
    },
  },
  IDEMPOTENT_RESULT_UNAVAILABLE: {
    happened: "The gateway has no answer for this `Idempotency-Key`, and will not run the request again under it.",
    why: "The first request ended with an unknown outcome: a timeout, or a connection that was lost after the request was sent. The provider may have done the work.",
    action: "To run it again, send a new key. The work may then be done twice.",
    example: {
      message:
        "The first request with this Idempotency-Key ended with an unknown outcome and will not run again. Send a new key to run it again.",
    },
  },
  MANAGED_BY_FILE: {
    happened: "The gateway refused to change an object. Nothing was changed.",
    why: "The object comes from the configuration file, so it is read-only in the API. A start without a file creates such objects, too.",
    action: "Change the object in the file and run `patchbay apply`. Without a file, `patchbay init` creates one.",
    example: {
      message:
        "This object is managed by the configuration file, or was created at a start without one, so it is read-only here. Change it in the file; `patchbay init` creates one.",
    },
  },
  CONFLICT: {
    happened: "The gateway refused a change. Nothing was changed.",
    why: "The state of the object, or another object, does not allow it. `details.reason` says which:",
    reasons: {
      exists: "the name is taken",
      not_empty: "it still contains objects",
      in_use: "another object refers to it",
      revoked: "the key is revoked",
      not_published: "the route has no published version",
      no_previous_version: "no other version of the route was published before",
      model_ending: "a target's model has ended or ends in fewer than 30 days; send `confirm_ending: true`",
      another_file: "the gateway uses another configuration file",
      other_secrets: "the file has other secrets than those with which the gateway started",
      downloads_off: "`models.fetch` is `never`",
    },
    action: "Remove the cause that the message names, then send the change again.",
    example: {
      message: "The name is already used by another app. Choose another one.",
      details: { reason: "exists" },
    },
  },
  PRECONDITION_FAILED: {
    happened: "The gateway refused a change because of `If-Match`. Nothing was changed.",
    why: "The object was changed after it was read, or does not exist.",
    action: "Read the object again. Repeat the change if it still applies, with the new `ETag`.",
    example: {
      message: "The object does not match the state that the request names. Read it again.",
      param: "if-match",
    },
  },
  PRECONDITION_REQUIRED: {
    happened: "The gateway refused a change without `If-Match`. Nothing was changed.",
    why: "The change replaces a whole object. It must name the state that was read, so that it overwrites no one else's change.",
    action: "Send the `ETag` of the object as `If-Match`.",
    example: {
      message: "This replaces the whole object: send the ETag of the state that you read as If-Match.",
      param: "if-match",
    },
  },
  AUDIO_TOO_LARGE: {
    happened: "The gateway refused the audio because of its size. No provider was called.",
    why: "The audio has more bytes than the limit for this way of sending it. `GET /v1/me/limits` has them: `max_audio_bytes`, `max_job_audio_bytes`, `max_audio_url_bytes` and `max_job_audio_url_bytes`. By default uploads may have 26,214,400 bytes (25 MiB), jobs too. In JSON the base64 text counts, which is a third longer than the file.",
    action:
      "Compress the audio, and send it as multipart. The operator can raise the limits of uploads and of jobs up to 524,288,000 bytes.",
    example: {
      message: "The audio is larger than 1000000 bytes, the maximum; 1000001 bytes were announced or received.",
      param: "file",
      details: { max_audio_bytes: 1_000_000, received_bytes: 1_000_001 },
    },
  },
  BODY_TOO_LARGE: {
    happened: "The gateway refused the body because of its size.",
    why: "The body has more bytes than this endpoint accepts. `details.max_body_bytes` is the limit.",
    action: "Send a smaller body.",
    example: {
      message: "The body is larger than the 65536 bytes that this endpoint accepts.",
      details: { max_body_bytes: 65_536, received_bytes: 2_000_011 },
    },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    happened: "The gateway does not read this kind of body or audio.",
    why: "The content type or the encoding of the body is not supported here. Or the content of the audio is not mp3, mp4, mpeg, mpga, m4a, wav or webm. File names and declared types are ignored.",
    action: "Send JSON or multipart without compression, and convert the audio to one of these formats.",
    example: {
      message: "The Content-Type is not supported here; send application/json or multipart/form-data.",
      param: "content-type",
    },
  },
  INVALID_AUDIO: {
    happened: "The gateway cannot read the audio. No provider was called.",
    why: "The audio is empty, shorter than 0.1 s, cut off, without an audio track, or of unreadable length.",
    action: "Play the file on your machine. Record or convert it again if it is damaged.",
    example: { message: "The audio is empty.", param: "file" },
  },
  AUDIO_TOO_LONG: {
    happened: "The gateway refused the audio because of its duration. No provider was called.",
    why: "The audio is longer than `max_audio_duration_seconds` in `GET /v1/me/limits`.",
    action:
      "Send the recording in parts. The limit is that of jobs too. The operator can raise it up to 86,400 seconds.",
    example: {
      message: "The audio lasts 61 s; the maximum is 60 s.",
      param: "file",
      details: { max_audio_duration_seconds: 60, audio_seconds: 61 },
    },
  },
  AUDIO_FETCH_FAILED: {
    happened: "The gateway could not fetch the `audio.url`. Nothing was called or charged.",
    why: "The server of the address did not deliver the audio. `details.reason` says how it failed:",
    reasons: {
      http_status: "it answered the status in `details.status` instead of 200",
      connect: "it could not be reached",
      tls: "it has no valid certificate for its name",
      timeout: "it took too long",
      stalled: "it sent less than 16 KiB per second for 10 s",
      truncated: "the audio ended before its declared length",
      content_encoding: "it sends compressed audio",
    },
    action:
      "Retry after `connect`, `timeout` and a status of 500 and above. In the other cases correct the server or the address.",
    example: {
      message: "The server behind audio.url did not answer 200.",
      param: "audio.url",
      details: { reason: "http_status", status: 404 },
    },
  },
  REQUIRED_FEATURE_UNSUPPORTED: {
    happened: "The gateway refused the request rather than drop a part of it. Nothing was called.",
    why: "The route has models for this kind of request, but none supports everything that was requested. `details.missing` lists the features that no target supports. `details.candidates` shows what each target lacks.",
    action: "Drop the feature, or ask an administrator for a route with a model that supports it.",
    example: {
      message:
        "No target of the route supports everything requested; missing: diarization. Nothing was called. Drop the feature, or use a route that supports it.",
      details: { missing: ["diarization"], candidates: [{ position: 1, missing: ["diarization"] }] },
    },
  },
  RATE_LIMITED: {
    happened: "The gateway refused the request because of a quota. Nothing was called or charged.",
    why: "The quota of the key or its app is used up.",
    action:
      "Retry after `Retry-After` seconds. The headers `RateLimit` and `RateLimit-Policy` of every answer show what remains.",
    example: {
      message: "The quota of 2 requests in 60 s is used up. Retry in 60 s.",
      details: { limit: 2, unit: "requests", period_seconds: 60 },
    },
  },
  CONCURRENCY_LIMITED: {
    happened: "The gateway refused the request because others are running. Nothing was called or charged.",
    why: "The key or its app has as many concurrent requests as its quota allows.",
    action: "Retry when one of them has ended, or send fewer at a time.",
    example: {
      message: "1 requests of this key or app are running, as many as its quota allows. Retry when one has ended.",
      details: { limit: 1 },
    },
  },
  FEATURE_NOT_DELIVERED: {
    happened: "The gateway withheld an incomplete answer. It is not charged.",
    why: "A provider answered without a feature that was required, such as speakers or JSON. No other target could serve.",
    action: "Send the request again, or add a target that delivers the feature to the route.",
    example: {
      message:
        "A provider answered without a requested feature, and no other target could serve the request. The incomplete answer was withheld.",
      details: { attempts: [{ position: 1, reason: "feature_dropped" }] },
    },
  },
  PROVIDER_REJECTED: {
    happened: "Every provider that could serve the request refused it. It is not charged.",
    why: "All eligible targets answered that they cannot process this input.",
    action: "Check the audio or the messages. `GET /v1/requests/{request_id}` shows what each provider answered.",
    example: {
      message: "Every eligible target answered that it cannot process this audio with these options.",
      details: { attempts: [{ position: 1, reason: "rejected" }] },
    },
  },
  PROVIDER_RESULT_UNKNOWN: {
    happened: "The outcome of the request is unknown. It is not charged.",
    why: "The connection to the provider broke after the request was sent. Another provider was not tried, because the work could be billed twice. In a chat stream the reason is that its first content had already been sent.",
    action: "Send the request again with a new `Idempotency-Key` if it may be done twice.",
    example: {
      message:
        "After the request was sent the connection to the provider broke, or the answer was 408, 499, 502 or 504. Whether it did the work is unknown; nothing was charged and no other provider was tried.",
    },
  },
  audio_purpose_unavailable: {
    happened: "The gateway refused the purpose of the request. No provider was called.",
    why: "The purpose is unknown, disabled or has no audio model, and the strict policy forbids a fallback.",
    action: "Send a purpose that `GET /v1/me` lists, or send `purpose_policy: fallback` if the key allows it.",
    example: {
      message:
        "The purpose cannot be used for audio (unknown) and the strict policy forbids another route. See purposes in GET /v1/me.",
      param: "purpose",
      details: { reason: "unknown" },
    },
  },
  NO_HEALTHY_PROVIDER: {
    happened: "No provider could serve the request. It is not charged.",
    why: "`details.reason` names the cause. `details.paused_until` is the end of the first manual pause, if there is one.",
    reasons: {
      no_audio_model: "the route has no model for audio",
      no_chat_model: "the route has no model for chat",
      model_retired: "the providers have ended every model that could serve it",
      unhealthy: "all targets are unavailable after failures, or paused",
      exhausted: "all eligible targets were tried and failed",
    },
    action: "Retry after `unhealthy` and `exhausted`. In the other cases an administrator has to change the route.",
    example: {
      message: "Every eligible target of the route failed or is unavailable. Nothing was charged. Retry later.",
      details: { reason: "exhausted", attempts: [{ position: 1, reason: "server_error" }] },
      retryable: true,
    },
  },
  all_providers_exhausted: {
    happened: "No chat provider could answer. Nothing is charged.",
    why: "Every eligible chat target failed, is unavailable after failures, or is paused. `details.paused_until` is the end of the first manual pause, if there is one.",
    action:
      "Retry after `Retry-After` seconds. If it recurs, the operator sees the cause in `GET /admin/v1/health/providers`.",
    example: {
      message: "Every eligible target of the route failed or is unavailable. Nothing was charged. Retry later.",
      details: { reason: "exhausted", attempts: [{ position: 1, reason: "server_error" }] },
    },
  },
  OVERLOADED: {
    happened: "The gateway cannot accept the request at the moment.",
    why: "The gateway is at capacity, or its database is unavailable: unreachable, starting, stopping, read-only or out of disk space.",
    action:
      "Retry after `Retry-After` seconds, with the same `Idempotency-Key` if there was one. With `retryable: false` a change may have been made without confirmation: look before you repeat it.",
    example: { message: "The gateway's database is unavailable. Nothing was sent to a provider." },
  },
  SHUTTING_DOWN: {
    happened: "This process of the gateway accepts no more requests.",
    why: "It is being stopped or restarted.",
    action: "Retry: another process answers, or the same one after its restart.",
    example: { message: "This process is shutting down. Retry: another process will answer." },
  },
  PROVIDER_TIMEOUT: {
    happened: "The provider did not answer in time, so the outcome is unknown. It is not charged.",
    why: "The deadline passed after the request was sent. No other provider was tried, because the work could be billed twice.",
    action: "Send long recordings as a job. Otherwise send the request again with a new `Idempotency-Key`.",
    example: {
      message:
        "The provider did not answer before the deadline. Whether it did the work is unknown; nothing was charged and no other provider was tried. For long recordings use POST /v1/transcription/jobs.",
    },
  },
  INTERNAL: {
    happened: "The gateway failed for a reason of its own.",
    why: "This is a defect, or a job's recording could not be read back from the store. Then `details.reason` says more:",
    reasons: {
      recording_missing: "the recording is no longer there",
      recording_damaged: "its bytes differ from those that were submitted",
      recording_unreadable: "the store did not return it until the job's deadline",
    },
    action:
      "Report it to the operator with the `request_id`. A job that ends so is not charged, and may be submitted again.",
    example: { message: "An internal error of the gateway. Report it with the request id." },
  },
  JOB_DEADLINE_EXCEEDED: {
    happened: "The job did not end before its deadline. It is not charged.",
    why: "It waited too long in the queue or between two calls. The operator sets the deadline; the default is 6 hours. With a call in progress the code is `PROVIDER_RESULT_UNKNOWN` instead.",
    action: "Submit the recording again under a new `Idempotency-Key`.",
    example: { message: "The job did not finish before its deadline. Nothing was charged." },
  },
  ATTEMPTS_EXHAUSTED: {
    happened: "The job never came to its end. It is not charged.",
    why: "Several workers claimed it, and all of them stopped before it ended.",
    action:
      "Submit the recording again under a new `Idempotency-Key`. If the error recurs, report the job's id to the operator.",
    example: { message: "The job was claimed 5 times and never completed. Nothing was charged." },
  },
};
