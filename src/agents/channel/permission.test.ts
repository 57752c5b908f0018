// Permission requests of hosts become approvals. They are bounded, and the verdict goes only to the host that asked.
import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentConnector } from '../../contract/index.ts'
import {
  createRecordingLog,
  createTestClock,
  delivery,
  startRecorded,
  type TestClock,
} from '../../testing/index.ts'
import { createFakeHosts, type FakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'

describe('a permission request of a host', () => {
  let clock: TestClock
  let hosts: FakeHosts
  let connector: AgentConnector
  let log: ReturnType<typeof createRecordingLog>
  let recorded: Awaited<ReturnType<typeof startRecorded>>

  beforeEach(async () => {
    clock = createTestClock()
    hosts = createFakeHosts()
    log = createRecordingLog()
    connector = channelConnector(clock, hosts, { log })
    recorded = await startRecorded(connector)
  })

  const turn = (n: number) => delivery(`message ${n}`, { turn: `t${n}`, messageId: `m${n}` })
  const asks = () => recorded.outputs.flatMap((one) => (one.kind === 'ask' ? [one.ask] : []))

  it('[S6.ch-permission-in] [S10.asked-by-channel] a request is an approval about the turn in work, with its own id and whole preview', async () => {
    const host = hosts.attach('kate')
    await connector.deliver(turn(1))
    const inputPreview = `{ "command": "${'x'.repeat(15_000)}" `
    await host.seat.ask({ requestId: 'abcde', toolName: 'Bash', description: 'List', inputPreview })
    expect(recorded.outputs).toEqual([
      {
        kind: 'ask',
        session: delivery('').session,
        turn: 't1',
        guessed: true,
        at: { open: ['t1'], used: true },
        ask: {
          toolName: 'Bash',
          description: 'List',
          input: inputPreview,
          requestId: 'abcde',
          host: expect.any(String),
        },
      },
    ])
  })

  it('[S6.ch-permission-out] [S6.host-newest] of two attachments of one session the newest gets verdict and turns', async () => {
    const facts = { proven: true, routingKey: 'session-a', asks: ['abcde'] }
    const dead = hosts.attach('kate', facts)
    const fresh = hosts.attach('kate', facts)
    hosts.attach('kate', { ...facts, routingKey: 'session-b' })
    const ask = { toolName: 'Bash', description: '', input: '', requestId: 'abcde', host: 'session-a' }
    const verdict = { approval: 'v', session: 's', turn: null, behavior: 'allow', decidedBy: 'dev' } as const
    expect(await connector.verdict?.({ ...verdict, ask, cause: 'person' })).toBe('relayed')
    expect([dead.verdicts.length, fresh.verdicts.length]).toEqual([0, 1])
    await connector.deliver(turn(1))
    await connector.deliver(turn(2))
    expect([dead.texts(), fresh.texts()]).toEqual([[], ['message 1', 'message 2']])
  })

  it('[S6.ch-permission-out] [S6.ch-expiry-no-verdict] a person’s verdict goes to the host that asked; an expiry to nobody', async () => {
    const asking = hosts.attach('kate', { proven: true })
    const bystander = hosts.attach('kate', { proven: true })
    await asking.seat.ask({ requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: '' })
    const verdict = {
      approval: 'vwxyz',
      session: 's',
      turn: null,
      behavior: 'allow',
      decidedBy: 'dev',
      ask: { toolName: 'Bash', description: '', input: '', requestId: 'abcde' },
    } as const
    expect(connector.holdsDecisions).toBe(false)
    expect(await connector.verdict?.({ ...verdict, behavior: 'deny', cause: 'expired' })).toBe('gone')
    expect(asking.verdicts).toEqual([])
    expect(await connector.verdict?.({ ...verdict, cause: 'person' })).toBe('relayed')
    expect(asking.verdicts).toEqual([{ requestId: 'abcde', behavior: 'allow' }])
    expect(bystander.verdicts).toEqual([])
    expect(await connector.verdict?.({ ...verdict, cause: 'person' })).toBe('gone')
  })

  it('[S6.ch-permission-out] two hosts ask under one id: the verdict is for the one whose question was answered', async () => {
    const first = hosts.attach('kate', { routingKey: 'session-1' })
    const second = hosts.attach('kate', { routingKey: 'session-2' })
    for (const host of [first, second])
      await host.seat.ask({ requestId: 'abcde', toolName: host.id, description: '', inputPreview: '' })
    const about = asks()[1]
    if (!about) throw new Error('not asked')
    const verdict = {
      approval: 'vwxyz',
      session: 's',
      turn: null,
      behavior: 'allow',
      decidedBy: 'd',
    } as const
    expect(await connector.verdict?.({ ...verdict, ask: about, cause: 'person' })).toBe('relayed')
    expect(first.verdicts).toEqual([])
    expect(second.verdicts).toEqual([{ requestId: 'abcde', behavior: 'allow' }])
    // The first is gone. The other host still waits under the same id, for something else.
    second.detach()
    expect(await connector.verdict?.({ ...verdict, ask: about, cause: 'person' })).toBe('gone')
    expect(first.verdicts).toEqual([])
    const back = hosts.attach('kate', { routingKey: 'session-2', asks: ['abcde'] })
    expect(await connector.verdict?.({ ...verdict, ask: about, cause: 'person' })).toBe('relayed')
    expect(back.verdicts).toHaveLength(1)
  })

  it('a request that a host still waits for after a restart of the daemon is answered to it', async () => {
    const host = hosts.attach('kate', { asks: ['abcde'] })
    const ask = { toolName: 'Bash', description: '', input: '', requestId: 'abcde' }
    const verdict = {
      approval: 'a',
      session: 's',
      turn: null,
      behavior: 'deny',
      decidedBy: 'd',
      ask,
    } as const
    expect(await connector.verdict?.({ ...verdict, cause: 'person' })).toBe('relayed')
    expect(host.verdicts).toEqual([{ requestId: 'abcde', behavior: 'deny' }])
  })

  it('is bounded in length before it is kept, and what was left out is said', async () => {
    const host = hosts.attach('kate')
    const long = '😀'.repeat(1_500_000)
    await host.seat.ask({ requestId: 'abcde', toolName: long, description: long, inputPreview: long })
    const [ask] = asks()
    expect([...(ask?.toolName ?? '')].length).toBeLessThanOrEqual(201)
    expect([...(ask?.description ?? '')].length).toBeLessThan(5_000)
    expect([...(ask?.input ?? '')].length).toBeLessThan(1_048_576)
    expect(ask?.input).toMatch(/^😀+… \(\d+ more characters were too many to keep\)$/u)
  })

  it('is asked of nobody when there are too many of them: the dialogs of the host stay open', async () => {
    const host = hosts.attach('kate')
    const ask = (n: number) =>
      host.seat.ask({ requestId: `r${n}`, toolName: 'Bash', description: '', inputPreview: `${n}` })
    for (let n = 0; n < 500; n++) await ask(n)
    expect(asks()).toHaveLength(60)
    expect(log.lines.filter((line) => line.includes('too many permission requests')).length).toBeGreaterThan(
      0,
    )
    await clock.advance(2_000)
    for (let n = 500; n < 510; n++) await ask(n)
    expect(asks()).toHaveLength(62)
  })
})
