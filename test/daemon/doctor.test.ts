// `doctor` on a real daemon: the live path, each gate with pass or the reason and the key to change.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DoctorReport } from '../../src/contract/index.ts'
import { acknowledged, post } from '../faults/hook-client.ts'
import { settled } from '../faults/river-checks.ts'
import { askLines, createScene, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { writeYaml } from './admin.ts'

const scene = createScene()

const doctorOf = async (data: string) =>
  JSON.parse((await switchboard(data, 'doctor', '--json')).stdout) as DoctorReport

describe('doctor', () => {
  it('[S14.doctor-gates] [S4.group-star-flagged] [S4.refusal-in-doctor] [S4.refusal-names-gate] shows each gate with pass or reason, and the key', async () => {
    const data = scene.folder()
    writeFileSync(join(data, 'closed.yaml'), 'allow_from: [dev\n')
    const config = writeYaml(
      data,
      `integrations:
  - id: ci
    platform: webhook
    sender_header: X-Sender
    two_way: true
    access:
      allow_from: [dev]
      groups: { "room": { require_mention: false, allow_from: ["*"] }, "quiet": {} }
  - { id: shut, platform: webhook, sender_header: X-Sender, access: { dm: disabled } }
  - { id: off, platform: webhook, sender_header: X-Sender, enabled: false, access: { allow_from: [dev] } }
  - { id: torn, platform: webhook, sender_header: X-Sender, access: { file: closed.yaml } }
  - { id: keyless, platform: webhook, secret: env:NOT_SET }
  - { id: unheard, platform: webhook, sender_header: X-Sender, access: { allow_from: [dev], approvers: [dev] } }
  - { id: outward, platform: webhook, sender_header: X-Sender, scope: all, access: { allow_from: [dev] } }
users:
  - { id: boss, identities: ["ci:boss"], roles: [approver] }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings:
      - { plugin: webhook, instance: ci, rate_limit: { rps: 5, burst: 9 } }
      - { plugin: webhook, instance: shut }
      - { plugin: webhook, instance: off }
      - { plugin: webhook, instance: torn }
      - { plugin: webhook, instance: keyless }
  - { id: idle, connector: { type: channel } }
`,
    )
    const daemon = await scene.start({ data, config })
    const say = (id: string, sender: string) =>
      post(`${daemon.url}/hooks/${id}`, 'hi', { 'x-sender': sender })
    acknowledged(await say('ci', 'dev'))
    expect((await say('ci', 'mallory')).status).toBe(403)
    expect((await say('ci', 'eve')).status).toBe(403)
    expect((await say('shut', 'dev')).status).toBe(403)
    expect((await say('torn', 'dev')).status).toBe(403)
    await settled(data)

    const report = await doctorOf(data)
    expect(report.ok).toBe(false)
    const at = (id: string) => report.integrations.find((one) => one.id === id)
    const gateOf = (id: string, name: string) => at(id)?.gates.find((gate) => gate.gate === name)
    expect(gateOf('ci', 'group room')).toMatchObject({
      ...{ flagged: true, key: 'integrations[0].access.groups["room"].allow_from' },
      reason: expect.stringContaining('any member may talk'),
    })
    expect(gateOf('ci', 'group quiet')).toMatchObject({
      pass: true,
      reason: expect.stringMatching(/mentioned/),
    })
    expect(gateOf('shut', 'direct messages')).toMatchObject({ pass: false, key: 'integrations[1].access.dm' })
    expect(gateOf('off', 'enabled')).toMatchObject({ pass: false, key: 'integrations[2].enabled' })
    expect(gateOf('torn', 'policy')).toMatchObject({
      ...{
        pass: false,
        key: 'integrations[3].access',
        reason: expect.stringMatching(/closed\.yaml|unreadable/),
      },
    })
    // Bound to no agent: what arrives is refused, and only a scope says that this is meant.
    expect(gateOf('ci', 'binding')).toBeUndefined()
    expect(gateOf('unheard', 'binding')).toMatchObject({ pass: false, key: 'agents[].inbound_bindings' })
    expect(gateOf('outward', 'binding')).toMatchObject({ pass: true, key: 'integrations[6].scope' })
    expect(report.config.warnings.join('\n')).toMatch(/^integrations\[5\]: no agent takes what arrives/m)
    // Who may decide is counted as the gate counts it.
    expect(gateOf('ci', 'approvers')?.reason).toBe('1 may decide')
    expect(gateOf('unheard', 'approvers')?.reason).toBe('1 may decide')
    expect(gateOf('shut', 'approvers')?.reason).toMatch(/^nobody yet: .*access\.approvers/)
    expect(at('keyless')).toMatchObject({ link: 'down', detail: expect.stringContaining('env:NOT_SET') })

    // Each binding shows the whole way, from the link to the agent.
    const [demo, idle] = report.agents
    const [ci, shut, off, torn, keyless] = demo?.bindings ?? []
    expect(ci?.gates.map((gate) => `${gate.gate} ${gate.pass}`)).toEqual([
      ...['integration true', 'link true', 'enabled true', 'direct messages true', 'group room true'],
      ...['group quiet true', 'approvers true', 'limit true', 'agent true'],
    ])
    expect(ci?.gates.find((gate) => gate.gate === 'limit')?.key).toBe(
      'agents[0].inbound_bindings[0].rate_limit',
    )
    for (const [binding, gate] of [
      [shut, 'direct messages'],
      [off, 'enabled'],
      [torn, 'policy'],
      [keyless, 'link'],
    ] as const)
      expect(binding?.gates.filter((one) => !one.pass).map((one) => one.gate)).toContain(gate)
    expect(idle).toMatchObject({ attached: false, bindings: [] })

    // What was refused, by which gate, and what would change it: here and in the ledger.
    expect(at('ci')).toMatchObject({ drops: { sender_not_allowed: 2 } })
    expect(at('ci')?.refusals).toEqual([
      {
        ...{ reason: 'sender_not_allowed', count: 2, key: 'integrations[0].access.allow_from' },
        text: 'The sender is not in access.allow_from.',
      },
    ])
    expect(at('shut')?.refusals).toMatchObject([{ reason: 'dm_disabled', key: 'integrations[1].access.dm' }])
    expect(at('torn')?.refusals).toMatchObject([
      { reason: 'policy_unreadable', key: 'integrations[3].access' },
    ])
    const ledger = await askLines<{ to: string; reason: string; detail: string }>(data, 'audit', 'export')
    const refused = ledger.filter((entry) => entry.to === 'refused')
    expect(
      refused.map(({ reason, detail }) => `${reason} ${(JSON.parse(detail) as { key: string }).key}`),
    ).toEqual([
      'sender_not_allowed integrations[0].access.allow_from',
      'sender_not_allowed integrations[0].access.allow_from',
      'dm_disabled integrations[1].access.dm',
      'policy_unreadable integrations[3].access',
    ])

    const shown = await switchboard(data, 'doctor', '--verbose')
    expect(shown.code).toBe(1)
    expect(shown.stdout).toMatch(
      /open {2}group room: any member may talk.*\[integrations\[0\]\.access\.groups/,
    )
    expect(shown.stdout).toMatch(/stop {2}direct messages: off \[integrations\[1\]\.access\.dm\]/)
    expect(shown.stdout).toMatch(
      /refused 2 × sender_not_allowed: .*\[integrations\[0\]\.access\.allow_from\]/,
    )
    expect(shown.stdout).toContain('bound to nothing')
  })

  it('[S14.doctor-live] shows last message, drops by reason, pending approvals, queue depth and link health', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const before = await doctorOf(data)
    expect(before).toMatchObject({
      ok: true,
      agents: [{ last_message_at: null, queued: 0, approvals_pending: 0 }],
    })
    acknowledged(await post(`${daemon.url}/hooks/demo`, 'deploy', { 'x-sender': 'dev' }))
    acknowledged(await post(`${daemon.url}/hooks/demo`, 'waits behind it', { 'x-sender': 'dev' }))
    await post(`${daemon.url}/hooks/demo`, 'let me in', { 'x-sender': 'mallory' })
    await until('the question waits', async () => (await askLines(data, 'approvals', 'list')).length === 1)
    const report = await until('the prompts are out', async () => {
      const now = await doctorOf(data)
      return now.integrations.every((one) => one.sends_waiting === 0) ? now : null
    })
    const [agent] = report.agents
    expect(agent).toMatchObject({ id: 'demo', attached: true, approvals_pending: 1 })
    expect(Date.parse(agent?.last_message_at ?? '')).toBeGreaterThan(Date.now() - 60_000)
    const hook = report.integrations.find((one) => one.id === 'demo')
    expect(hook).toMatchObject({ link: 'up', drops: { sender_not_allowed: 1 }, sends_failed: 0 })
    expect(Date.parse(hook?.last_in_at ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect(Date.parse(hook?.last_out_at ?? '')).toBeGreaterThan(Date.now() - 60_000)
    const shown = (await switchboard(data, 'doctor', '--verbose')).stdout
    expect(shown).toMatch(/queue {3}\d+ waiting, 1 approvals pending, last message/)
    expect(shown).toMatch(/drops {3}sender_not_allowed 1/)
  })
})
