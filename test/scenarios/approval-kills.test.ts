// A daemon that dies around a question: a yes is used once, a question that was open is open, and a verdict that comes while
// the turn is being taken up again waits for it.
import '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { asking, headlines, RUN, state } from './asking.ts'
import { describeRiver, type River } from './river.ts'

const MAY_HAVE_RUN = 'It may already have run: it was allowed before an interruption.'
const RESUME = { redelivery: { handed: 'again', seen: 'resume', afterTimeout: false } } as const
const WAIT = {
  redelivery: { handed: 'wait', seen: 'wait', afterTimeout: false },
  verdict: 'fetched',
} as const

const rows = async (river: River) => (await river.operator().approvals(null, 10)).toReversed()
const prompts = (river: River) =>
  river.platform.arrived.flatMap(({ op }) => (op.kind === 'prompt' ? [op.text] : []))

describeRiver('approvals, and a daemon that dies', (open) => {
  it.each([
    ['approvals.passing', 'undeliverable'],
    ['approvals.written', 'undeliverable'],
    ['the tool', 'relayed'],
  ] as const)(
    '[I35.b2] a yes that was being passed on at %s is never used again: the call is asked again, with the words',
    async (point, ends) => {
      const { river, id } = await asking(open, { agent: RESUME })
      if (ends === 'undeliverable') {
        river.crashAt(point)
        await river.person('anna').says(`yes ${id}`)
        await river.pass(100)
        expect(river.dead()).toBe(true)
      } else {
        // Passed on and in use when the daemon dies.
        await river.person('anna').says(`yes ${id}`)
        await river.settle()
        expect(await state(river, id)).toBe('relayed')
      }
      await river.restart()
      await river.pass(20_000)
      const [first, second] = await rows(river)
      expect(first).toMatchObject({ id, state: ends, behavior: 'allow' })
      expect(second).toMatchObject({ state: 'pending', behavior: null, tool_name: RUN.toolName })
      expect(second?.description).toBe(`${MAY_HAVE_RUN} ${RUN.description}`)
      expect(prompts(river)).toHaveLength(2)
      expect(river.platform.texts('anna').at(-1)).toContain(MAY_HAVE_RUN)
      if (ends === 'undeliverable')
        expect(headlines(river.platform.shown('anna'))[0]).toBe(
          `Bash (${id}): allowed by anna, then interrupted; the agent may have received it, and asks again`,
        )
      const before = river.agent.verdicts.length
      await river.person('anna').says(`no ${second?.id}`)
      await river.settle()
      expect(river.agent.verdicts.slice(before)).toMatchObject([{ approval: second?.id, behavior: 'deny' }])
      expect(await state(river, second?.id ?? '')).toBe('relayed')
    },
  )

  it('[I35.b2] killed before it was passed on the yes is still unused: the call that comes again gets it, once', async () => {
    const { river, id } = await asking(open, { agent: RESUME })
    // As slow as a model: the verdict waits until the call has come again.
    const ask = river.agent.script
    let goOn: () => void = () => undefined
    river.agent.script = async (delivery, agent) => {
      void new Promise<void>((resolve) => (goOn = resolve)).then(() => ask(delivery, agent))
    }
    river.crashAt('approvals.before-passing')
    await river.person('anna').says(`yes ${id}`)
    await river.pass(100)
    expect(river.dead()).toBe(true)
    await river.restart()
    await river.pass(20_000)
    expect(await state(river, id)).toBe('decided')
    expect(river.agent.verdicts).toEqual([])
    goOn()
    await river.pass(1_000)
    expect(await state(river, id)).toBe('relayed')
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'allow' }])
    expect(prompts(river)).toHaveLength(1)
    // And once more: the same call in the same run is another one.
    await river.agent.ask(river.agent.deliveries.at(-1) as Delivery, RUN)
    await river.settle()
    expect(await rows(river)).toMatchObject([{ id, state: 'relayed' }, { state: 'pending' }])
  })

  it('[I35.b2] a tool of the llm loop that ran when the daemon died is not run again unasked, whatever the model calls', async () => {
    const ran: unknown[] = []
    const call = { calls: [{ name: 'mail', input: { to: 'bob' } }] }
    const fake = createFakeLlm({
      script: ({ isResult, last }) =>
        isResult && !last.includes('unknown') ? { text: `Done: ${last}` } : call,
    })
    const lent = {
      list: async () => [{ name: 'mail', inputSchema: { type: 'object' } }],
      async call(_session: string, _name: string, input: unknown) {
        ran.push(input)
        return { content: [{ type: 'text', text: 'sent' }] }
      },
    }
    const options = { provider: 'anthropic', api_key: 'env:KEY', model: 'm1' }
    const river = await open({
      integrations: [testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })],
      agents: [testAgent('kate', ['chat'], { connector: { type: 'llm', options } })],
      llm: { fetch: fake.fetch, lent },
    })
    // The model's answers pass through streams that no clock drives.
    const until = async (look: () => boolean | Promise<boolean>) => {
      for (let rounds = 0; rounds < 400 && !(await look()); rounds++) {
        await river.pass(river.dead() ? 0 : 500)
        await new Promise<void>((resolve) => setTimeout(resolve, 1))
      }
      expect(await look()).toBe(true)
    }
    const pending = async () => (await rows(river)).filter((one) => one.state === 'pending')
    const turn = await river.person('anna').says('mail bob')
    await until(async () => (await pending()).length === 1)
    river.crashAt('llm.tool-done')
    await river.person('anna').says(`yes ${(await pending())[0]?.id}`)
    await until(() => river.dead())
    expect(ran).toHaveLength(1)
    await river.restart()
    await until(async () => (await pending()).length === 1)
    expect((await pending())[0]?.description).toContain(MAY_HAVE_RUN)
    expect(ran).toHaveLength(1)
    await river.person('anna').says(`yes ${(await pending())[0]?.id}`)
    await until(async () => (await river.operator().turn(turn.id ?? ''))?.state === 'answered')
    expect(ran).toHaveLength(2)
    expect((await rows(river)).map(({ behavior }) => behavior)).toEqual(['allow', 'allow'])
  })

  it('[I35.b14] a verdict that comes before the interrupted turn has asked again waits for it, and says so', async () => {
    const { river, id } = await asking(open, { agent: RESUME })
    const ask = river.agent.script
    let goOn: () => void = () => undefined
    river.agent.script = async (delivery, agent) => {
      void new Promise<void>((resolve) => (goOn = resolve)).then(() => ask(delivery, agent))
    }
    await river.restart()
    await river.pass(15_000)
    expect(river.agent.deliveries).toHaveLength(2)
    await river.person('anna').says(`yes ${id}`)
    await river.pass(40_000)
    expect(await state(river, id)).toBe('decided')
    expect(headlines(river.platform.shown('anna'))).toEqual([
      `Bash (${id}): decided (allowed by anna), waits for the agent to come back`,
    ])
    // A connector may think that it has somebody to tell: another question of it is on its way.
    expect(river.agent.verdicts).toEqual([])
    goOn()
    await river.pass(1_000)
    expect(await state(river, id)).toBe('relayed')
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'allow' }])
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): allowed by anna`])
    expect(prompts(river)).toHaveLength(1)
  })

  it('[I35.b14] 60 s long; a turn that ends without asking again ends the wait at once', async () => {
    const { river, id } = await asking(open, { agent: RESUME })
    river.agent.script = () => undefined
    river.agent.hears = 'gone'
    await river.restart()
    await river.pass(15_000)
    await river.person('anna').says(`yes ${id}`)
    await river.pass(59_000)
    expect(await state(river, id)).toBe('decided')
    await river.pass(7_000)
    expect(await state(river, id)).toBe('undeliverable')
    expect(headlines(river.platform.shown('anna'))).toEqual([
      `Bash (${id}): decided (allowed by anna), but the agent is gone`,
    ])
    // Another one, whose turn is answered meanwhile.
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.agent.answer(river.agent.deliveries.at(-1) as Delivery, 'never mind')
    await river.person('anna').says('go on')
    await river.settle()
    river.agent.script = () => undefined
    const second = (await rows(river)).at(-1)?.id ?? ''
    await river.restart()
    await river.pass(15_000)
    await river.person('anna').says(`yes ${second}`)
    await river.pass(10_000)
    expect(await state(river, second)).toBe('decided')
    await river.agent.answer(river.agent.deliveries.at(-1) as Delivery, 'done without')
    await river.settle()
    expect(await state(river, second)).toBe('undeliverable')
    expect(river.agent.verdicts).toEqual([])
  })

  it('[I35.b2] what is asked under an own id once more, after its yes was written, is another question', async () => {
    const { river } = await asking(open, { agent: RESUME })
    const delivery = river.agent.deliveries[0] as Delivery
    const own = { ...RUN, input: 'make', requestId: 'r1', host: 'host' }
    const { id } = await river.agent.ask(delivery, own)
    expect(await river.agent.ask(delivery, own)).toMatchObject({ id })
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(await state(river, id ?? '')).toBe('relayed')
    const again = await river.agent.ask(delivery, own)
    expect(again.id).not.toBe(id)
    expect(await state(river, again.id ?? '')).toBe('pending')
  })

  it('[I35.b19a] an agent that fetches its verdict and asks again under its own id gets the same one, marked, until the turn ends', async () => {
    const { river } = await asking(open, { agent: WAIT })
    const delivery = river.agent.deliveries[0] as Delivery
    const own = { ...RUN, input: 'make', requestId: `${delivery.turn}:r1`, host: 'http' }
    const { id } = await river.agent.ask(delivery, own)
    await river.settle()
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    const fetched = async () => {
      const verdict = river.agent.fetchVerdict(id ?? '', delivery.turn)
      await river.settle()
      return verdict
    }
    expect(await fetched()).not.toHaveProperty('repeat')
    expect(await river.agent.ask(delivery, own)).toEqual({ id })
    expect(await fetched()).toMatchObject({ behavior: 'allow', decidedBy: 'anna', repeat: true })
    // Also after a restart. Another input, or another id, is another question.
    await river.restart()
    await river.pass(15_000)
    expect(await river.agent.ask(delivery, own)).toEqual({ id })
    const other = await river.agent.ask(delivery, { ...own, input: 'make install' })
    const another = await river.agent.ask(delivery, { ...own, requestId: `${delivery.turn}:r2` })
    expect(new Set([id, other.id, another.id]).size).toBe(3)
    await river.agent.answer(delivery, 'made')
    await river.settle()
    await expect(river.agent.ask(delivery, own)).rejects.toMatchObject({ code: 'conflict' })
  })
})
