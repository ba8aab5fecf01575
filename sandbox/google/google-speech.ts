// Simulates Google Cloud Speech-to-Text v2 over REST with the services that it needs: token endpoint, bucket, operations. Keeps uploads and operations until
// they are deleted [providers.sandbox-kept].
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { googleError, googleErrorForStatus } from "./google-errors.ts";
import { billedDuration, googleResults } from "./google-speech-reply.ts";
import {
  batch,
  findWrongConfig,
  type GoogleConfig,
  INLINE_BYTES,
  INLINE_SECONDS,
  modelsAt,
  recognition,
} from "./google-speech-rules.ts";
import { exchangeToken } from "./google-token.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import {
  type Alteration,
  jsonAnswer,
  type Step,
  valueOf,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const SPEECH =
  /^\/google-speech\/v2\/projects\/([^/]+)\/locations\/([^/]+)\/(?:recognizers\/_:(recognize|batchRecognize)|operations\/([^/:]+)(:cancel)?)$/u;
const LOCATION = /^\/google-speech\/v2\/projects\/([^/]+)\/locations\/([^/]+)$/u;
const MAX_UPLOAD_BYTES = 2_000_000_000;

interface Operation {
  readonly name: string;
  readonly uri: string;
  readonly config: GoogleConfig;
  readonly alteration: Alteration;
  readonly facts: AudioFacts | null;
  unfinishedPolls: number;
  isCancelled: boolean;
}

type Methods = Readonly<Partial<Record<string, Wire>>>;

/** The simulated endpoints of a path, by method. Null: not a path of Google's. */
export function googleSpeechWires(): (path: string) => Methods | null {
  const objects = new Map<string, AudioFacts>();
  const operations = new Map<string, Operation>();

  async function submit(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
    const parsed = batch.safeParse(input.json);
    if (!parsed.success) return invalid(parsed.error);
    const { config, files } = parsed.data;
    const fault = findWrongConfig(config, locationIn(input.path), "batch");
    if (fault !== null) return googleError(400, fault);
    const uri = files[0]?.uri ?? "";
    const [project, location] = SPEECH.exec(input.path)?.slice(1) ?? [];
    const operation: Operation = {
      name: `projects/${project}/locations/${location}/operations/${randomUUID()}`,
      uri,
      config,
      alteration,
      facts: objects.get(uri) ?? null,
      unfinishedPolls: alteration.unfinishedPolls,
      isCancelled: false,
    };
    operations.set(operation.name, operation);
    return jsonAnswer(200, { name: operation.name, metadata: operationMetadata(0), done: false });
  }

  async function poll(input: WireInput): Promise<WireAnswer> {
    const operation = find(input);
    if (operation === undefined) return googleError(404, "Requested entity was not found.");
    if (operation.isCancelled)
      return jsonAnswer(200, { name: operation.name, done: true, error: { code: 1, message: "Cancelled." } });
    if (operation.unfinishedPolls > 0) {
      operation.unfinishedPolls -= 1;
      return jsonAnswer(200, { name: operation.name, metadata: operationMetadata(50), done: false });
    }
    return jsonAnswer(200, {
      name: operation.name,
      metadata: operationMetadata(100),
      done: true,
      ...outcome(operation),
    });
  }

  async function cancel(input: WireInput): Promise<WireAnswer> {
    const operation = find(input);
    if (operation === undefined) return googleError(404, "Requested entity was not found.");
    operation.isCancelled = true;
    return jsonAnswer(200, {});
  }

  async function forget(input: WireInput): Promise<WireAnswer> {
    const operation = find(input);
    if (operation === undefined) return googleError(404, "Requested entity was not found.");
    operations.delete(operation.name);
    return jsonAnswer(200, {});
  }

  async function upload(input: WireInput): Promise<WireAnswer> {
    const bucket = /\/b\/([^/]+)\/o$/u.exec(input.path)?.[1] ?? "";
    const name = valueOf(input.query, "name");
    if (bucket === "missing-bucket") return googleError(404, "The specified bucket does not exist.");
    if (valueOf(input.query, "uploadType") !== "media" || name === null)
      return googleError(400, "Required parameter: name");
    objects.set(`gs://${bucket}/${name}`, await input.measure());
    return jsonAnswer(200, { kind: "storage#object", bucket, name, size: String(input.bodyBytes) });
  }

  async function removeObject(input: WireInput): Promise<WireAnswer> {
    const [, bucket = "", name = ""] = /\/b\/([^/]+)\/o\/([^/]+)$/u.exec(input.path) ?? [];
    return objects.delete(`gs://${bucket}/${decodeURIComponent(name)}`)
      ? { status: 204, headers: {}, body: "" }
      : googleError(404, "No such object");
  }

  const find = ({ path }: Pick<WireInput, "path">): Operation | undefined =>
    operations.get(path.slice("/google-speech/v2/".length).replace(/:cancel$/u, ""));

  const wire = (step: Step, body: Wire["body"], answer: Wire["answer"]): Wire => ({
    name: "google-speech",
    step,
    body,
    maxBodyBytes: step === "upload" ? MAX_UPLOAD_BYTES : 20_000_000,
    errorFor: (status) => googleErrorForStatus(status),
    answer: async (input, alteration) => {
      if (step !== "token" && !isAuthorized(input)) return UNAUTHENTICATED;
      return input.defect === "too_large"
        ? googleError(400, "Request payload size exceeds the limit.")
        : answer(input, alteration);
    },
    modelOf: ({ json, path }) => modelIn(json) ?? find({ path })?.config.model ?? "",
    audioOf: (json) => {
      const content = recognition.safeParse(json).data?.content;
      return content === undefined ? null : { base64: content, contentType: "" };
    },
  });
  const places: Places = {
    token: { POST: wire("token", "raw", exchangeToken) },
    recognizer: { POST: wire("submit", "json", recognize) },
    batches: { POST: wire("submit", "json", submit) },
    cancelling: { POST: wire("remove", "none", cancel) },
    operating: { GET: wire("poll", "none", poll), DELETE: wire("remove", "none", forget) },
    uploads: { POST: wire("upload", "raw", upload) },
    stored: { DELETE: wire("remove", "none", removeObject) },
    location: { GET: wire("probe", "none", describeLocation) },
  };
  return (path) => placeOf(path, places);
}

type Places = Readonly<
  Record<"token" | "recognizer" | "batches" | "cancelling" | "operating" | "uploads" | "stored" | "location", Methods>
>;

function placeOf(path: string, places: Places): Methods | null {
  if (path === "/google-speech/token") return places.token;
  if (path.startsWith("/google-speech/upload/storage/v1/b/")) return places.uploads;
  if (path.startsWith("/google-speech/storage/v1/b/")) return places.stored;
  if (LOCATION.test(path)) return places.location;
  const [, , , method, id, isCancel] = SPEECH.exec(path) ?? [];
  if (id !== undefined) return isCancel === undefined ? places.operating : places.cancelling;
  if (method === undefined) return null;
  return method === "recognize" ? places.recognizer : places.batches;
}

const UNAUTHENTICATED = googleError(
  401,
  "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
);

function isAuthorized({ headers }: Pick<WireInput, "headers">): boolean {
  const token = /^Bearer (\S+)$/u.exec(headers.authorization ?? "")?.[1];
  return token !== undefined && token !== "invalid";
}

async function describeLocation({ path }: WireInput): Promise<WireAnswer> {
  const [, project = "", location = ""] = LOCATION.exec(path) ?? [];
  const modelFeatures = Object.fromEntries(
    modelsAt(location).map((model) => [
      model,
      { modelFeature: [{ feature: "automatic_punctuation", releaseState: "GA" }] },
    ]),
  );
  return jsonAnswer(200, {
    name: `projects/${project}/locations/${location}`,
    locationId: location,
    metadata: {
      "@type": "type.googleapis.com/google.cloud.speech.v2.LocationsMetadata",
      languages: { models: { "en-US": { modelFeatures } } },
    },
  });
}

async function recognize(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const parsed = recognition.safeParse(input.json);
  if (!parsed.success) return invalid(parsed.error);
  const { config, content } = parsed.data;
  const fault = findWrongConfig(config, locationIn(input.path), "recognize");
  if (fault !== null) return googleError(400, fault);
  if (content === undefined) return googleError(400, "The sandbox fetches nothing: send the audio as `content`.");
  if (content.length > INLINE_BYTES) return googleError(400, "Request payload size exceeds the limit: 10485760 bytes.");
  const facts = await input.measure();
  if (!facts.ok) return googleError(400, "Audio encoding could not be detected or is not supported.");
  if (facts.durationSeconds > INLINE_SECONDS) return googleError(400, "Audio can be of a maximum of 60 seconds.");
  const results = googleResults({ config, facts, alteration });
  return jsonAnswer(200, {
    ...(results.length === 0 ? {} : { results }),
    metadata: { requestId: input.requestId, totalBilledDuration: billedDuration(facts, alteration) },
  });
}

function outcome({ uri, config, alteration, facts }: Operation): object {
  const failed = (code: number, message: string): object => ({ response: response(uri, { error: { code, message } }) });
  if (alteration.runError !== null) return { error: { code: 13, message: alteration.runError } };
  if (facts === null) return failed(5, "The object could not be found.");
  if (!facts.ok) return failed(3, "Audio encoding could not be detected or is not supported.");
  const billed = billedDuration(facts, alteration);
  const inlineResult = { transcript: { results: googleResults({ config, facts, alteration }) } };
  return {
    response: {
      ...response(uri, { inlineResult, metadata: { totalBilledDuration: billed } }),
      totalBilledDuration: billed,
    },
  };
}

const response = (uri: string, result: object): object => ({
  "@type": "type.googleapis.com/google.cloud.speech.v2.BatchRecognizeResponse",
  results: { [uri]: result },
});

const operationMetadata = (progressPercent: number): object => ({
  "@type": "type.googleapis.com/google.cloud.speech.v2.OperationMetadata",
  progressPercent,
});

function modelIn(json: unknown): string | null {
  return z.object({ config: z.object({ model: z.string() }) }).safeParse(json).data?.config.model ?? null;
}

const locationIn = (path: string): string => SPEECH.exec(path)?.[2] ?? "";

function invalid(error: z.ZodError): WireAnswer {
  const [issue] = error.issues;
  return googleError(400, `Invalid JSON payload received. ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
