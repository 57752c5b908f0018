// An agent in plain Node that answers later: 202 at once, then its progress and the answer to reply_url.
// Run it with: PORT=8080 node node-agent.mjs
import { createServer } from 'node:http'

const tell = (url, body) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function work({ text, reply_url }) {
  await tell(reply_url, { status: 'thinking' })
  await tell(reply_url, { text: `You said: ${text}` })
}

createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  try {
    const turn = JSON.parse(body)
    response.writeHead(202).end()
    await work(turn)
  } catch (error) {
    if (!response.headersSent) response.writeHead(400).end()
    console.error(error)
  }
}).listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
