// The program text of an MCP server with one tool, `post` of `desk`.

/** `work` is the code of the tool, and `answer` its result. The code can use the file functions of node:fs. */
export const oneToolServer = (work: string, answer: string): string => `
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'desk', version: '1' } })
  else if (method === 'tools/list') say(id, { tools: [{ name: 'post', description: 'posts', inputSchema: { type: 'object' } }] })
  else if (method === 'tools/call') {
    ${work}
    say(id, { content: [{ type: 'text', text: '${answer}' }] })
  } else if (id !== undefined) say(id, {})
}
`
