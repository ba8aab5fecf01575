// POST /v1/translation: like POST /v1/transcription, with a target language in addition [translation.native-first].
import type { Principal } from "../../auth/principal.ts";
import { postTranslationContract } from "../../contract/endpoints/endpoint-transcription.ts";
import { translationFields } from "../../contract/transcription/transcription-fields.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { nativeWording, speechEndpoint, type TranscriptionEdge } from "./post-transcription.ts";

export function postTranslation(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postTranslationContract,
    task: "translate",
    schema: translationFields,
    word: nativeWording,
  });
}
