// What stands in the way of a message is named by `doctor` with its remedy and by `status` with the same word, and nothing is
// named where all is well.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

/** The codes that `doctor` names; `status` names the same findings. */
async function named(river: River): Promise<readonly string[]> {
  const { ok, problems } = await river.operator().doctor()
  expect((await river.operator().status()).problems).toEqual(problems)
  expect(ok).toBe(problems.every(({ severity }) => severity !== 'problem'))
  for (const { word, text, remedy } of problems) expect([word, text, remedy]).not.toContain('')
  return problems.map(({ code }) => code)
}

describeRiver('health', (open) => {
  it('[I35.a4-well] nothing is named where all is well, before and after a message', async () => {
    const river = await open()
    expect(await named(river)).toEqual([])
    await river.person('anna').says('hello')
    await river.settle()
    expect(await named(river)).toEqual([])
  })

  it('[I35.a4-table] a send that was refused is named until an operator decides', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'rejected' }])
    await river.person('anna').says('hello')
    await river.settle()
    expect(await named(river)).toEqual(['sends-undelivered'])
  })

  it('[I35.a4-well] a reaction that the platform refuses keeps nothing from anybody, and is not named', async () => {
    const river = await open({ integrations: [testIntegration('chat', { ackReaction: '🦑' })] })
    river.platform.failBy(({ op }) => (op.kind === 'react' ? { kind: 'rejected' } : null))
    await river.person('anna').says('hello')
    await river.settle()
    const states = (await river.operator().sends({ limit: 5 })).map(({ state }) => state)
    expect(states).toContain('failed')
    expect(await named(river)).toEqual([])
  })

  it('[I35.a4-table] an agent that is away, and one that is bound to nothing, are named', async () => {
    const river = await open({ agents: [testAgent('demo', ['chat']), testAgent('idle', [])] })
    river.agent.detach()
    await river.settle()
    expect(await named(river)).toEqual(expect.arrayContaining(['agent-absent', 'agent-unbound']))
  })

  it('[I35.b23] an agent that asks people, and whose approvals can reach nobody, is named until somebody may approve', async () => {
    const connector = { type: 'test', options: { asks: true } }
    const chat = (approvers: readonly string[]) =>
      testIntegration('chat', { access: { ...OPEN, allowFrom: ['anna'], approvers } })
    const options = (approvers: readonly string[]) => ({
      integrations: [chat(approvers)],
      agents: [testAgent('demo', ['chat'], { connector })],
    })
    const river = await open(options([]))
    expect(await named(river)).toEqual(['approvals-unreachable'])
    await river.configure(options(['anna']))
    expect(await named(river)).toEqual([])
  })

  it('[I35.a4-table] messages behind a turn that does not end are named after five minutes', async () => {
    const river = await open()
    river.agent.script = () => new Promise<void>(() => undefined)
    await river.person('anna').says('one')
    await river.person('anna').says('two')
    await river.pass(4 * 60_000)
    expect(await named(river)).not.toContain('turns-waiting')
    await river.pass(2 * 60_000)
    expect(await named(river)).toContain('turns-waiting')
  })

  it('[I35.a4-table] a limit that refuses messages is named with its key', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 1, burst: 1 } } })
    for (let sent = 0; sent < 5; sent++) await river.person('anna').says(`message ${sent}`)
    await river.settle()
    const { problems } = await river.operator().doctor()
    expect(problems).toMatchObject([{ code: 'limit-hit', remedy: 'change tunables.sender_limit' }])
  })

  it('[I35.a4-limits] refused messages count where their senders are told by a status, and no row is kept', async () => {
    const river = await open({
      platform: { abilities: { oneWay: true } },
      tunables: { senderLimit: { rps: 1, burst: 2 } },
    })
    for (let sent = 0; sent < 30; sent++) await river.person('anna').says(`message ${sent}`)
    await river.settle()
    const { problems } = await river.operator().doctor()
    expect(problems).toMatchObject([{ code: 'limit-hit' }])
    expect(problems[0]?.text).toContain('28 messages were refused within the last hour')
    await river.pass(61 * 60_000)
    expect(await named(river)).toEqual([])
  })
})
