// A turn to Claude Code and back: webhook message → a line to its process → its result → visible on the stream. The
// peer is a bare driver that writes the same lines to the same double. Processes are warm, because a start is the
// program's own cost.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchContext } from './context.ts'
import {
  type AgentFigures,
  besideBare,
  closeConnections,
  openSwitchboard,
  type Send,
} from './through-agent.ts'

const DOUBLE = fileURLToPath(
  new URL('../../src/agents/claude-code/fixtures/claude-double.mjs', import.meta.url),
)

export async function measureClaudeCode(context: BenchContext): Promise<readonly AgentFigures[]> {
  const folder = context.freshFolder('claude')
  const command = join(folder, 'claude')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${DOUBLE}" "$@"\n`)
  chmodSync(command, 0o755)
  const env = { HOME: folder, DOUBLE_ECHO: '1' }
  const connector = { type: 'claude-code', command, cwd: folder, env, max_processes: 8 }
  const sender = await openSwitchboard(context, '', JSON.stringify(connector))
  const children = new Map<string, ReturnType<typeof bareDriver>>()
  const direct: Send = (conversation, text) => {
    const known =
      children.get(conversation) ?? bareDriver(command, folder, { ...env, PATH: process.env.PATH ?? '' })
    children.set(conversation, known)
    return known.send(text)
  }
  try {
    const what = { agent: 'claude-code', bare: 'bare driver' }
    const ways = { through: sender.send, direct }
    return await besideBare(context, what, ways, { conversations: [1, 4], warm: true })
  } finally {
    for (const one of children.values()) one.end()
    await sender.close()
    closeConnections()
  }
}

/** A process that gets one line per message and is read until its result. */
function bareDriver(command: string, cwd: string, env: Readonly<Record<string, string>>) {
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const child: ChildProcessWithoutNullStreams = spawn(command, args, { cwd, env: { ...env } })
  let done: () => void = () => undefined
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if ((JSON.parse(line) as { type: string }).type === 'result') done()
  })
  child.stderr.resume()
  return {
    send: (text: string) =>
      new Promise<void>((resolve) => {
        done = resolve
        const message = { role: 'user', content: text }
        child.stdin.write(`${JSON.stringify({ type: 'user', uuid: randomUUID(), message })}\n`)
      }),
    end: () => child.stdin.end(),
  }
}
