# A receiver of Patchbay's completion webhook, in Python 3 without packages.
#   PATCHBAY_WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["PATCHBAY_WEBHOOK_SECRET"].encode()
if not SECRET:
    raise SystemExit("PATCHBAY_WEBHOOK_SECRET is not set")
seen = set()  # in production: a table with a unique column


def is_genuine(headers, body):
    timestamp = headers.get("X-SVC-Webhook-Ts", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    if not -60 <= time.time() - int(timestamp) <= 300:
        return False
    # The bytes as they came: parsed and printed again, they would be others.
    expected = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    names = ("X-SVC-Webhook-Signature", "X-SVC-Webhook-Signature-Previous")
    return any(hmac.compare_digest(headers.get(name, "").encode(), expected.encode()) for name in names)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers, body):
            self.answer(400)
            return
        event_id = self.headers["X-SVC-Webhook-Id"]
        if event_id not in seen:
            event = json.loads(body)
            print(event["type"], event["job_id"], flush=True)  # now fetch GET /v1/transcription/jobs/{job_id}
            seen.add(event_id)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver)
print("port", server.server_port, flush=True)
server.serve_forever()
