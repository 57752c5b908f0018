#!/bin/sh
# An agent in shell: one request on stdin, one answer on stdout. Needs jq. Run it with:
#   socat TCP-LISTEN:8080,bind=127.0.0.1,fork,reuseaddr EXEC:./shell-agent.sh
length=0
while IFS= read -r line; do
  line=$(printf '%s' "$line" | tr -d '\r')
  [ -z "$line" ] && break
  case $line in [Cc]ontent-[Ll]ength:*) length=${line#*: } ;; esac
done
answer=$(head -c "$length" | jq -c '{text: ("You said: " + .text)}')
printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n%s' "$answer"
