// Lists every model of a provider account with its capabilities, and nothing about the account itself [providers.model-list]. Pure.
import { ownProperty } from "../lib/json/own-property.ts";
import { CHAT_MODELS } from "../providers/catalog.ts";
import type { ChatModel } from "../providers/chat/chat-provider.ts";
import type { ProviderKind, SpeechModel } from "../providers/provider.ts";
import { chatModel } from "./chat-model.ts";
import { withEnd } from "./listed-end.ts";
import type { Account, Adapters } from "./snapshot.ts";
import { speechModel } from "./speech-model.ts";

export interface AccountModel {
  readonly name: string;
  /** Null: it does not accept audio. */
  readonly speech: SpeechModel | null;
  /** Null: it does not support chat. */
  readonly chat: ChatModel | null;
}

/**
 * Returns the models of the adapters and those that the account declares, by name, without those that cannot be called. Those that are known and not
 * offered are listed. Where an account may lead to any server, only declared models are listed.
 */
export function modelsOf(
  { kind, models, listedEnds = {} }: Pick<Account, "kind" | "models" | "listedEnds">,
  adapters: Adapters,
): AccountModel[] {
  const speech = adapters.speech.get(kind);
  const chat = adapters.chat.get(kind);
  const names = new Set([
    ...Object.keys(models),
    ...(speech?.isAnyServer === true ? [] : Object.keys({ ...speech?.models, ...speech?.notOffered })),
    ...(chat === undefined ? [] : [...Object.keys(chat.models), ...Object.keys(CHAT_MODELS[kind] ?? {})]),
  ]);
  return [...names].toSorted().flatMap((name) => {
    const declared = ownProperty(models, name);
    const listed = ownProperty(listedEnds, name);
    const model = {
      name,
      speech: withEnd(speechModel(speech, name, declared, {}), listed),
      chat: withEnd(chatModel(kind, chat, name, declared), listed),
    };
    return model.speech === null && model.chat === null ? [] : [model];
  });
}

/** Returns the provider kinds that have an adapter. */
export function knownKinds({ speech, chat }: Adapters): readonly ProviderKind[] {
  return [...new Set([...speech.keys(), ...chat.keys()])].toSorted();
}
