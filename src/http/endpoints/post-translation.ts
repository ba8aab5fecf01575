// POST /v1/translation (contract 3): the story of a transcription with another language to answer in.
import type { Principal } from "../../auth/principal.ts";
import { postTranslationContract } from "../../contract/endpoint-transcription.ts";
import { translationFields } from "../../contract/transcription.ts";
import type { Endpoint } from "../endpoint.ts";
import { nativeWording, speechEndpoint, type TranscriptionEdge } from "./post-transcription.ts";

export function postTranslation(edge: TranscriptionEdge): Endpoint<Principal> {
  return speechEndpoint(edge, {
    contract: postTranslationContract,
    task: "translate",
    schema: translationFields,
    word: nativeWording,
  });
}
