// The script of the page: sends the microphone to the gateway and shows the text while somebody speaks.
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node server.mjs
const element = (id) => document.getElementById(id);
const show = (text) => {
  element("state").textContent = text;
};

element("start").addEventListener("click", () => {
  start().catch((error) => show(error.message));
});

async function start() {
  element("start").disabled = true;
  element("captions").textContent = "";
  show("connecting");
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const answer = await fetch("/token", { method: "POST" });
  if (!answer.ok) throw new Error("The server of this page gives no token.");
  const { token, url } = await answer.json();

  // 16-bit samples, 16,000 a second: every model that accepts live audio accepts these. The browser converts the rate.
  const audio = new AudioContext({ sampleRate: 16000 });
  await audio.audioWorklet.addModule("samples.js");
  const samples = new AudioWorkletNode(audio, "samples");

  const socket = new WebSocket(url, ["patchbay.v1", `patchbay.token.${token}`]);
  const send = ({ data }) => socket.readyState === WebSocket.OPEN && socket.send(data);
  const release = () => {
    samples.port.removeEventListener("message", send);
    for (const track of microphone.getTracks()) track.stop();
    if (audio.state !== "closed") void audio.close();
    element("stop").disabled = true;
  };
  const finish = () => {
    release();
    // The rest of the text arrives before the gateway closes the socket.
    socket.send(JSON.stringify({ type: "finish" }));
  };
  socket.addEventListener("open", () => {
    socket.send(JSON.stringify({ type: "start", encoding: "pcm_s16le", sample_rate: 16000, language: "en" }));
    samples.port.addEventListener("message", send);
    samples.port.start();
    audio.createMediaStreamSource(microphone).connect(samples);
    element("stop").addEventListener("click", finish);
    element("stop").disabled = false;
    show("listening");
  });
  socket.addEventListener("message", ({ data: frame }) => {
    const { event, data } = JSON.parse(frame);
    if (event === "transcript.delta") element("captions").textContent += data.text;
    if (event === "transcript.completed") show(`${data.envelope.duration_seconds.toFixed(1)} seconds`);
    if (event === "error") show(`${data.error.code}: ${data.error.message}`);
  });
  socket.addEventListener("close", () => {
    release();
    element("stop").removeEventListener("click", finish);
    element("start").disabled = false;
  });
}
