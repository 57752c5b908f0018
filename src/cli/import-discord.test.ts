// The access.json of the official Discord plugin of Claude Code, as a block that the configuration takes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { rememberingTerminal } from './fixtures/fake-daemon.ts'
import { run as runCommand } from './run.ts'

const ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

describe('the official plugin', () => {
  it('[I20.import] its access.json becomes an access block, which the configuration takes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'swb-discord-import-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    const access = {
      dmPolicy: 'pairing',
      allowFrom: ['184695080709324800'],
      groups: { '846209781206941736': { requireMention: true, allowFrom: [] } },
      pending: { abc123: { senderId: '1', chatId: '2', createdAt: 1, expiresAt: 2, replies: 1 } },
      mentionPatterns: ['^hey claude\\b'],
      ackReaction: '👀',
      replyToMode: 'first',
      textChunkLimit: 2000,
      chunkMode: 'newline',
    }
    writeFileSync(join(folder, 'access.json'), JSON.stringify(access))
    const terminal = rememberingTerminal({ env: {}, cwd: () => folder, now: Date.now })
    expect(await runCommand(['import', 'claude-access', folder], terminal)).toBe(0)
    const block = terminal.printed.out
    expect(terminal.printed.err).toContain('1 pairing code')
    const file = join(folder, 'switchboard.yaml')
    const indented = block.trimEnd().replaceAll(/^/gm, '    ')
    const agents =
      'agents:\n  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: discord, instance: d }] }\n'
    writeFileSync(
      file,
      `integrations:\n  - id: d\n    platform: discord\n    token: env:T\n${indented}\n${agents}`,
    )
    const check = rememberingTerminal({ env: { T: 'x' }, cwd: () => folder, now: Date.now })
    expect([
      await runCommand(['check', '--config', file, '--data', folder], check),
      check.printed.err,
    ]).toEqual([0, expect.any(String)])
    for (const part of [
      '184695080709324800',
      '846209781206941736',
      'require_mention: true',
      '^hey claude',
      '👀',
      'text_chunk_limit: 2000',
    ])
      expect(block).toContain(part)
  })
})
