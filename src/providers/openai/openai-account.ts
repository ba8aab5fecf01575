// Tests a credential of OpenAI, or of a server with its protocol, by GET /models (platform.openai.com, checked 2026-11-23).
import { z } from "zod";
import { type AccountAnswer, type AccountProbe, accountProbe, type ListedModels, modelsIn } from "../account-probe.ts";
import type { Io } from "../io.ts";
import { findInferencePlace, isWhisperCpp } from "./whisper-cpp.ts";

const list = z.object({ data: z.array(z.unknown()) });

/** "You have insufficient permissions for this operation. Missing scopes: api.model.read": observed with 401 and with 403. */
const MISSING_SCOPE = /missing scopes/iu;

function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { authorization: `Bearer ${credential}` };
}

const wire = { path: "/models", headers: authorization, listsModels: true, restrictedSays: MISSING_SCOPE } as const;

/** `shutdown_date`: "The date when the model will shut down, or null if not announced" (npm openai 7.57.0, resources/models.ts). */
export const openaiProbe = accountProbe({
  ...wire,
  listsEnds: true,
  read: (body) => {
    const entries = list.safeParse(body).data?.data;
    if (entries === undefined) return undefined;
    const models = modelsIn(
      entries,
      ({ id }) => id,
      () => null,
      ({ shutdown_date: date }) => date,
    );
    return { models, isWhole: true };
  },
});

/** Together returns the list without an envelope, Ollama adds the default tag to names without one, and OpenRouter answers without a credential. */
const listing = accountProbe({
  ...wire,
  mayBeOpen: true,
  read: (body) => listModels(Array.isArray(body) ? body : list.safeParse(body).data?.data, removeLatestTag),
});

/** whisper.cpp's server lists no models, so its transcription endpoint is looked for instead. */
export const openaiCompatibleProbe: AccountProbe = {
  ...listing,
  ask: async (io) => {
    let isWhisper = false;
    const send: Io["send"] = async (request) => {
      const reply = await io.send(request);
      isWhisper ||= reply.status === 404 && isWhisperCpp(reply.headers);
      return reply;
    };
    try {
      return await listing.ask({ ...io, send });
    } catch (error) {
      if (isWhisper) return findEndpoint(io);
      throw error;
    }
  },
};

async function findEndpoint(io: Io): Promise<AccountAnswer> {
  const place = await findInferencePlace(io);
  return { kind: "whisper_cpp", status: place === null ? 404 : 200, path: place?.path ?? null };
}

function listModels(
  entries: readonly unknown[] | undefined,
  aliasOf: (id: string) => string | null,
): ListedModels | undefined {
  return entries === undefined ? undefined : { models: modelsIn(entries, ({ id }) => id, aliasOf), isWhole: true };
}

function removeLatestTag(id: string): string | null {
  return id.endsWith(":latest") ? id.slice(0, -":latest".length) : null;
}
