// Whether OpenAI, or a server that speaks its protocol, takes a credential: GET /models (platform.openai.com, checked 2026-11-23).
import { z } from "zod";
import { type AccountAnswer, type AccountProbe, accountProbe, type ListedModels, modelsIn } from "./account-probe.ts";
import type { Io } from "./io.ts";
import { findInferencePlace, isWhisperCpp } from "./whisper-cpp.ts";

const list = z.object({ data: z.array(z.unknown()) });

/** "You have insufficient permissions for this operation. Missing scopes: api.model.read": seen with 401 and with 403. */
const MISSING_SCOPE = /missing scopes/iu;

function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { authorization: `Bearer ${credential}` };
}

const wire = { path: "/models", headers: authorization, listsModels: true, restrictedSays: MISSING_SCOPE } as const;

export const openaiProbe = accountProbe({
  ...wire,
  read: (body) => listed(list.safeParse(body).data?.data),
});

/** Together sends the bare list, Ollama writes the tag that a name without one means, and OpenRouter tells anybody. */
const listing = accountProbe({
  ...wire,
  mayBeOpen: true,
  read: (body) => listed(Array.isArray(body) ? body : list.safeParse(body).data?.data, withoutLatest),
});

/** whisper.cpp's server lists nothing: it is asked where it takes audio. */
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
      if (isWhisper) return whereItTakesAudio(io);
      throw error;
    }
  },
};

async function whereItTakesAudio(io: Io): Promise<AccountAnswer> {
  const place = await findInferencePlace(io);
  return { kind: "whisper_cpp", status: place === null ? 404 : 200, path: place?.path ?? null };
}

function listed(
  entries: readonly unknown[] | undefined,
  aliasOf?: (id: string) => string | null,
): ListedModels | undefined {
  return entries === undefined ? undefined : { models: modelsIn(entries, ({ id }) => id, aliasOf), isWhole: true };
}

function withoutLatest(id: string): string | null {
  return id.endsWith(":latest") ? id.slice(0, -":latest".length) : null;
}
