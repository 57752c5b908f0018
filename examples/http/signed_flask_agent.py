# The same with its signature checked (Standard Webhooks), an answer that streams, and a question before anything risky.
# Run it with: SECRET=whsec_… flask --app signed_flask_agent run --port 8080
import base64, hashlib, hmac, json, os, time, urllib.error, urllib.request

from flask import Flask, Response, abort, request

app = Flask(__name__)
KEY = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))


def verify():
    sent, at = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    signed = f"{sent}.{at}.".encode() + request.get_data()
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    given = request.headers["webhook-signature"].split(" ")
    if abs(time.time() - int(at)) > 300 or not any(hmac.compare_digest(expected, one) for one in given):
        abort(401)


def call(url, body=None):
    """A gateway that restarts is back in seconds."""
    for _ in range(30):
        try:
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            return json.load(urllib.request.urlopen(request))
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
        except OSError:
            pass
        time.sleep(2)
    abort(503)


def ask(reply_url, tool, text):
    """True once a person allowed it. Each wait lasts 25 seconds; the same id is the same question."""
    question = {"id": tool, "tool": tool, "description": text, "input": text}
    answer = call(reply_url, json.dumps({"ask": question}).encode())
    while answer["state"] == "pending":
        answer = call(f"{reply_url}?approval={answer['approval']}")
    return answer["allowed"]


@app.post("/turn")
def turn():
    verify()
    message = request.json
    if message["text"].startswith("deploy"):
        allowed = ask(message["reply_url"], "Deploy", message["text"])
        return {"text": "Deployed." if allowed else "Not deployed."}

    def words():
        for word in f"You said: {message['text']}".split(" "):
            yield json.dumps({"text": word + " "}) + "\n"

    return Response(words(), mimetype="application/x-ndjson")
