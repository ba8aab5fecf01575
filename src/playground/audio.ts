// Chooses the audio: the bundled sample, a file, a recording or a URL. Audio leaves the tab only to be transcribed.
import { byId } from "../page/element.ts";

export type Audio =
  | { readonly kind: "sample" | "file"; readonly name: string; readonly blob: Blob }
  | { readonly kind: "url"; readonly url: string };

const SAMPLE = "dialogue.mp3";

/** Calls `changed` with the choice. */
export function chooseAudio(player: HTMLAudioElement, changed: (audio: Audio) => void): void {
  const status = byId("audio-status", HTMLElement);
  const file = byId("file", HTMLInputElement);
  const drop = byId("drop", HTMLElement);
  const url = byId("url", HTMLInputElement);
  let choices = 0;

  byId("use-sample", HTMLButtonElement).addEventListener("click", () => void takeSample());
  file.addEventListener("change", () => {
    takeFile(file.files?.[0]);
    // Otherwise choosing the same file again would not be a change.
    file.value = "";
  });
  for (const type of ["dragover", "dragleave", "drop"] as const)
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", type === "dragover");
      if (type === "drop") takeFile(event.dataTransfer?.files[0]);
    });
  byId("url-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    if (!url.reportValidity() || url.value === "") return;
    release();
    player.removeAttribute("src");
    player.load();
    take(
      { kind: "url", url: url.value },
      `${url.value}, fetched by the gateway. To play it here, choose your own copy after the run.`,
    );
  });
  offerRecording(
    byId("record", HTMLButtonElement),
    (blob, name) => takeBlob({ kind: "file", name, blob }),
    (text) => (status.textContent = text),
  );
  void takeSample();

  async function takeSample(): Promise<void> {
    const choice = ++choices;
    const blob = await fetch(`/playground/sample/${SAMPLE}`)
      .then((response) => (response.ok ? response.blob() : null))
      .catch(() => null);
    // A newer choice made during the download wins.
    if (choice !== choices) return;
    if (blob !== null) takeBlob({ kind: "sample", name: SAMPLE, blob });
    else status.textContent = "The sample could not be loaded: the gateway did not respond.";
  }

  function takeFile(selectedFile: File | undefined): void {
    if (selectedFile !== undefined) takeBlob({ kind: "file", name: selectedFile.name, blob: selectedFile });
  }

  function takeBlob(audio: Exclude<Audio, { kind: "url" }>): void {
    release();
    player.src = URL.createObjectURL(audio.blob);
    take(
      audio,
      `${audio.kind === "sample" ? "The bundled sample, " : ""}${audio.name}, ${(audio.blob.size / 1000).toFixed(0)} kB`,
    );
  }

  function release(): void {
    if (player.src !== "") URL.revokeObjectURL(player.src);
  }

  function take(audio: Audio, text: string): void {
    choices += 1;
    status.textContent = text;
    changed(audio);
  }
}

function offerRecording(
  control: HTMLButtonElement,
  take: (blob: Blob, name: string) => void,
  report: (text: string) => void,
): void {
  let running: MediaRecorder | null = null;
  control.addEventListener("click", () => {
    if (running !== null) running.stop();
    else if (!window.isSecureContext) report("Browsers allow microphone access over https or on localhost only.");
    else {
      // Disabled until the user has answered the browser's permission request.
      control.disabled = true;
      void record()
        .catch((fault: unknown) =>
          report(`The microphone is not available: ${fault instanceof Error ? fault.message : "refused"}`),
        )
        .finally(() => (control.disabled = false));
    }
  });

  async function record(): Promise<void> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const recorder = new MediaRecorder(stream);
    const parts: Blob[] = [];
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      running = null;
      control.textContent = "Record";
      const type = recorder.mimeType.split(";")[0] ?? "audio/webm";
      take(new Blob(parts, { type }), `recording.${type.split("/")[1] ?? "webm"}`);
    });
    recorder.start();
    running = recorder;
    control.textContent = "Stop recording";
    report("Recording…");
  }
}
