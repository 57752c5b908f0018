# An agent in five lines of Flask. Run it with: flask --app flask_agent run --port 8080
from flask import Flask, request

app = Flask(__name__)


@app.post("/turn")
def turn():
    return {"text": f"You said: {request.json['text']}"}
