// The command line against the real daemon, and without one: the shapes that scripts rely on, exit codes, hints.
import { describe, expect, it } from 'vitest'
import type { Daemon } from './daemon.ts'
import { acknowledged, postDemo } from './hook-client.ts'
import { settled } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

const TURN =
  'id session agent integration source address sender state reason attempts received_at updated_at'.split(' ')
const SEND = 'id to agent session state reason attempts platform_ids created_at'.split(' ')
const APPROVAL = 'id agent session tool_name description state decided_by decided_via expires_at'.split(' ')
const COUNTS = 'received refused consumed queued handed seen answered failed expired'.split(' ')

/** A daemon that was used: an answer, and a question that waits in the chat and at the approver's page. */
async function lived(): Promise<{ daemon: Daemon; data: string }> {
  const data = scene.folder()
  const daemon = await scene.start({ data })
  acknowledged(await postDemo(daemon.url, 'hello', 'k1'))
  acknowledged(await postDemo(daemon.url, 'deploy', 'k2'))
  await until('the question waits', async () => (await askLines(data, 'approvals', 'list')).length === 1)
  await until('all is sent', async () => {
    const { outbox } = await askJson<{ outbox: Record<string, number> }>(data, 'status')
    return outbox.queued === 0 && outbox.sent === 3
  })
  return { daemon, data }
}

describe('--json against the daemon', () => {
  it('[S14.json-status] [S14.json-turn] [S14.json-send] [S14.json-lines] [S14.json-audit] [S14.json-approvals] [S14.cli-status] [S14.cli-turns] [S14.cli-inbox] [S14.cli-outbox] [S14.cli-audit] [S14.cli-finds-daemon] prints the shapes that scripts rely on', async () => {
    const { daemon, data } = await lived()
    const status = await askJson<Record<string, Record<string, unknown>>>(data, 'status')
    expect(status).toMatchObject({ ready: true, node: expect.any(String), uptime_ms: expect.any(Number) })
    expect(status.integrations).toContainEqual({
      ...{ id: 'demo', platform: 'webhook', link: 'up' },
      ...{ last_in_at: expect.any(String), last_out_at: expect.any(String) },
      complete: { state: 'unchecked', until: null },
    })
    expect(status.agents).toEqual([
      { id: 'demo', connector: 'demo', attached: true, state: 'attached', queued: 0 },
    ])
    expect(Object.keys(status.counts ?? {})).toEqual(COUNTS)
    expect(status.counts).toMatchObject({ received: 2, answered: 1, seen: 1 })
    expect(status.outbox).toEqual({
      ...{ queued: 0, sent: 3, deduplicated: 0, failed: 0, unknown: 0 },
      outcome_open: 0,
    })
    expect(status.approvals).toEqual({ pending: 1 })

    const turns = await askLines<Record<string, unknown>>(data, 'turns')
    for (const turn of turns) expect(Object.keys(turn)).toEqual(expect.arrayContaining(TURN))
    expect(turns[1]).toMatchObject({
      ...{ agent: 'demo', integration: 'demo', source: 'webhook:demo', address: 'demo:dev', sender: 'dev' },
      ...{ state: 'answered', reason: null, attempts: 1 },
    })
    expect(await askLines(data, 'inbox')).toMatchObject([{ state: 'seen', text: 'deploy' }])
    expect(
      await askLines(data, 'turns', '--source', 'webhook:demo', '--since', '1d', '--limit', '1'),
    ).toHaveLength(1)
    expect(await askLines(data, 'turns', '--source', 'channel:slack')).toEqual([])

    const sends = await askLines<Record<string, unknown>>(data, 'outbox')
    for (const send of sends) expect(Object.keys(send)).toEqual(expect.arrayContaining(SEND))
    expect(sends[2]).toMatchObject({ to: 'demo:dev', agent: 'demo', state: 'sent', attempts: 1 })

    expect(await askJson(data, 'audit', 'verify')).toMatchObject({
      ...{ ok: true, entries: expect.any(Number), chain: 'intact' },
      conservation: { received: 2, accounted: 2, ok: true },
    })
    const approvals = await askLines<Record<string, unknown>>(data, 'approvals', 'list')
    expect(Object.keys(approvals[0] ?? {})).toEqual(expect.arrayContaining(APPROVAL))
    expect(approvals).toMatchObject([
      { agent: 'demo', tool_name: 'Deploy', state: 'pending', decided_by: null },
    ])
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200)
  })

  it('[S14.cli-approvals] [S14.json-approvals] decides an approval once, and the agent acts on it', async () => {
    const { data } = await lived()
    const [waiting] = await askLines<{ id: string }>(data, 'approvals', 'list')
    const id = waiting?.id ?? ''
    expect(await askJson(data, 'approvals', 'allow', id)).toMatchObject({
      id,
      behavior: 'allow',
      decided_via: 'cli',
    })
    const again = await switchboard(data, 'approvals', 'deny', id)
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toMatch(/already answered by/)
    await until('it is deployed', async () => {
      const sends = await askLines<{ text: string }>(data, 'outbox')
      return sends.some((send) => send.text.includes('🚀 Deployed'))
    })
    await settled(data)
    expect(await askLines(data, 'approvals', 'list', '--all')).toMatchObject([{ id, state: 'relayed' }])
  })

  it('[S14.cli-send] [S11.one-outlet] sends through the outlet and says what came of it', async () => {
    const data = scene.folder()
    await scene.start({ data })
    const sent = await askJson<{ outbox_id: string }>(data, 'send', 'demo:dev', 'from the operator')
    expect(sent).toEqual({
      ...{ ok: true, status: 'sent', platform_ids: [expect.any(String)], outbox_id: expect.any(String) },
      ...{ code: null, error: null },
    })
    const shown = await askJson(data, 'outbox', 'show', sent.outbox_id)
    expect(shown).toMatchObject({ id: sent.outbox_id, state: 'sent', text: 'from the operator' })
    const nowhere = await switchboard(data, 'send', 'nowhere:dev', 'hello')
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toContain('nowhere')
    const nothing = await switchboard(data, 'send', 'demo:dev', ' ')
    expect(nothing).toMatchObject({ code: 2, stdout: '' })
  })

  it('[S14.json-token] [S14.cli-token] mints, lists and revokes a token; it is shown once', async () => {
    const data = scene.folder()
    await scene.start({ data })
    const minted = await askJson<{ token: string; id: string }>(data, 'token', 'mint', '--agent', 'demo')
    expect(minted).toEqual({ token: expect.any(String), id: expect.any(String), expires_at: null })
    const listed = await switchboard(data, 'token', 'list', '--json')
    expect(listed.stdout).toContain(minted.id)
    expect(listed.stdout).not.toContain(minted.token)
    expect(await askJson(data, 'token', 'revoke', minted.id)).toMatchObject({ ok: true })
    const [kept] = (await askLines<{ id: string; revoked: boolean }>(data, 'token', 'list')).filter(
      (one) => one.id === minted.id,
    )
    expect(kept?.revoked).toBe(true)
  })

  it('[S14.json-pair] [S14.cli-pair] [S4.pairing-approve-cli] lists a stranger with a code and lets it in by that code', async () => {
    const data = scene.folder()
    const config = writeConfig(
      data,
      `integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { dm: pairing } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`,
    )
    const daemon = await scene.start({ data, config })
    expect((await postDemo(daemon.url, 'let me in')).status).toBe(403)
    const [pairing] = await askLines<{ code: string }>(data, 'pair', 'list')
    expect(pairing).toMatchObject({ integration: 'demo', sender: 'dev', expires_at: expect.any(String) })
    expect(pairing?.code).toMatch(/^[0-9a-f]{6}$/)
    const guessed = await switchboard(data, 'pair', 'approve')
    expect(guessed.code).toBe(2)
    expect(guessed.stderr).toContain('needs a code')
    await askJson(data, 'pair', 'approve', pairing?.code ?? '')
    acknowledged(await postDemo(daemon.url, 'thank you'))
    await settled(data)
  })
})

describe('without a daemon', () => {
  it('[S14.cli-read-alone] [S14.cli-config-data] reads what the killed daemon left', async () => {
    const { daemon, data } = await lived()
    const turns = await askLines(data, 'turns')
    await daemon.kill9()
    expect(await askJson(data, 'status')).toMatchObject({ ready: false, counts: { received: 2 } })
    expect(await askLines(data, 'turns')).toEqual(turns)
    expect(await askLines(data, 'inbox')).toHaveLength(1)
    expect(await askLines(data, 'outbox')).toHaveLength(3)
    expect(await askLines(data, 'approvals', 'list')).toHaveLength(1)
    expect(await askJson(data, 'audit', 'verify')).toMatchObject({ ok: true, chain: 'intact' })
    const people = await switchboard(data, 'status')
    expect(people.code).toBe(0)
    expect(people.stdout).toContain('no daemon')
  })

  it('[S14.cli-needs-daemon] [S14.cli-exit-codes] [S14.cli-stderr-hint] what acts says that it needs one', async () => {
    const { daemon, data } = await lived()
    await daemon.terminate()
    for (const act of [
      ['approvals', 'allow', 'abcde'],
      ['token', 'mint', '--agent', 'demo'],
      ['pair', 'approve', 'abcdef'],
      ['reload'],
    ]) {
      const ran = await switchboard(data, ...act)
      expect({ act, code: ran.code, stdout: ran.stdout }).toEqual({ act, code: 1, stdout: '' })
      expect(ran.stderr).toMatch(/^error: .*\nhint: .*switchboard up/s)
    }
    const send = await switchboard(data, 'send', 'demo:dev', 'hello')
    expect(send).toMatchObject({ code: 1, stdout: '' })
    expect(send.stderr).toContain('Gateway not active — send_message requires gateway mode')
  })

  it('[S14.cli-exit-codes] [S14.cli-stderr-hint] a slip of the pen ends with 2 and a hint', async () => {
    const data = scene.folder()
    for (const slip of [
      ['statsu'],
      ['turns', '--state', 'lost'],
      ['up', '--port', 'many'],
      ['outbox', '--limit', '-1'],
    ]) {
      const ran = await switchboard(data, ...slip)
      expect({ slip, code: ran.code, stdout: ran.stdout }).toEqual({ slip, code: 2, stdout: '' })
      expect(ran.stderr).toMatch(/error: .*hint: /s)
    }
    const empty = await switchboard(data, 'turns')
    expect(empty.code).toBe(1)
    expect(empty.stderr).toMatch(/hint: .*switchboard up/s)
  })
})

describe('tables for people', () => {
  it('[I2.cli-tables] [I2.no-color] are readable and free of colour codes where NO_COLOR is set', async () => {
    const { data } = await lived()
    const shown = await Promise.all(
      ['status', 'turns', 'inbox', 'outbox', 'approvals', 'doctor'].map((name) => switchboard(data, name)),
    )
    for (const { code, stdout } of shown) {
      expect(code).toBe(0)
      expect(stdout).not.toContain('\u001b')
    }
    expect(shown[0]?.stdout).toMatch(/INTEGRATION\s+PLATFORM\s+LINK/)
    expect(shown[1]?.stdout).toMatch(/ID\s+AGE\s+STATE/)
    expect(shown[4]?.stdout).toContain('Deploy')
  })
})
