// Translates an installed model to the configuration of the engine [local.engines]. Pure.
import { type InstalledModel, modelPath } from "../../../local-models/installed-model.ts";
import type { TransducerFiles } from "../../../local-models/model-spec.ts";
import type { EngineConfig } from "./engine-config.ts";

const FEATURE_DIMENSIONS = 80;

/** Null: the model recognises nothing by itself. */
export function engineConfigOf(installed: InstalledModel, threads: number): EngineConfig | null {
  const { engine, sampleRate, features } = installed.spec;
  const file = (path: string): string => modelPath(installed, path);
  const common = { sampleRate, featureDim: FEATURE_DIMENSIONS, threads };
  const decoding = features.keyterms ? "modified_beam_search" : "greedy_search";
  const transducer = ({ encoder, decoder, joiner }: TransducerFiles) => ({
    transducer: { encoder: file(encoder), decoder: file(decoder), joiner: file(joiner) },
  });
  switch (engine.kind) {
    case "zipformer_ctc":
      return offline({ zipformerCtc: { model: file(engine.model) } }, engine.tokens);
    case "nemo_ctc":
      return offline({ nemoCtc: { model: file(engine.model) } }, engine.tokens);
    case "nemo_transducer":
      // Without the type the engine takes the files for another kind of transducer.
      return offline({ ...transducer(engine), modelType: "nemo_transducer" }, engine.tokens);
    case "moonshine":
      return offline(
        { moonshine: { encoder: file(engine.encoder), mergedDecoder: file(engine.mergedDecoder) } },
        engine.tokens,
      );
    case "online_transducer":
      return { kind: "online", model: transducer(engine), tokens: file(engine.tokens), ...common };
    case "silero_vad":
    case "pyannote_segmentation":
    case "speaker_embedding":
      return null;
  }

  function offline(model: Readonly<Record<string, unknown>>, tokens: string): EngineConfig {
    return { kind: "offline", model, tokens: file(tokens), decoding, ...common };
  }
}

/** The two models of diarization. Null: one of them is missing. */
export function speakersConfigOf(installed: readonly InstalledModel[], threads: number): EngineConfig | null {
  const pair = speakerModels(installed);
  if (pair === null) return null;
  const [segmentation, embedding] = pair.map((model) =>
    "model" in model.spec.engine ? modelPath(model, model.spec.engine.model) : null,
  );
  if (segmentation == null || embedding == null) return null;
  return { kind: "speakers", segmentation, embedding, threads };
}

export function speakerModels(
  installed: readonly InstalledModel[],
): readonly [segmentation: InstalledModel, embedding: InstalledModel] | null {
  const segmentation = installed.find(({ spec }) => spec.engine.kind === "pyannote_segmentation");
  const embedding = installed.find(({ spec }) => spec.engine.kind === "speaker_embedding");
  return segmentation === undefined || embedding === undefined ? null : [segmentation, embedding];
}
