// What is done with each recording of several: transcribe or translate, with the words of the reports.
export interface BatchTask {
  readonly command: "transcribe" | "translate";
  readonly request: "transcription" | "translation";
  readonly doing: string;
  /** How a file has ended, in lines and as `status` of the summary. */
  readonly done: "transcribed" | "translated";
  /** What a file that failed lacks. */
  readonly result: string;
}

export const TRANSCRIBE_FILES: BatchTask = {
  command: "transcribe",
  request: "transcription",
  doing: "transcribing",
  done: "transcribed",
  result: "transcript",
};

export const TRANSLATE_FILES: BatchTask = {
  command: "translate",
  request: "translation",
  doing: "translating",
  done: "translated",
  result: "translation",
};
