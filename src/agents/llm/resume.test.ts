// A run that is interrupted anywhere and continued: finished steps stay finished, and begun ones are reported as
// unknown.
import { describe, expect, it } from 'vitest'
import type { ConnectorDeps } from '../../contract/index.ts'
import type { FakeScript } from '../../testing/llm/fake-llm.ts'
import { memoryJournal, type SceneOptions, scene } from './fixtures/llm-scene.ts'

const CALL = { text: 'One moment.', calls: [{ name: 'mail', input: { to: 'bob' } }] }
const SCRIPT: FakeScript = ({ isResult, last }) => (isResult ? { text: `Done: ${last}` } : CALL)

/** The first run ends at the point: it receives and sends nothing more. */
async function cutOff(point: string, more: SceneOptions = {}) {
  const journal = memoryJournal()
  const sent: string[] = []
  let dead = false
  const tools = {
    mail: (input: unknown) => {
      if (dead) return new Promise<string>(() => undefined)
      sent.push(JSON.stringify(input))
      return 'sent'
    },
  }
  const options = { risky_tools: [], ...more.options }
  const mortal = {
    ...journal,
    add: (step: Parameters<typeof journal.add>[0]) =>
      dead ? new Promise<boolean>(() => undefined) : journal.add(step),
  }
  const first = await scene({
    ...{ journal: mortal, tools, options, script: SCRIPT },
    crashPoint: (name) => {
      if (name === point) dead = true
    },
  })
  await first.says('mail bob')
  await first.until(() => (dead ? true : undefined))
  await first.deps.clock.settle(50)
  const spoken = first.recorded.outputs.filter((one) => one.kind === 'say')
  dead = false
  const second = await scene({ journal, tools, options, script: SCRIPT })
  const end = await second.turn('mail bob', { repeat: true, continuation: true, attempt: 2 })
  return { journal, sent, spoken, end, second, firstAsked: first.fake.requests.length }
}

describe('kill -9', () => {
  it.each([
    // point, calls of the tool, model calls of the second run, text for the model
    ['llm.before-model', 1, 2, 'sent'],
    ['llm.model-done', 1, 2, 'sent'],
    ['llm.model-kept', 1, 1, 'sent'],
    ['llm.before-start', 1, 1, 'sent'],
    ['llm.started', 0, 1, 'Outcome unknown'],
    ['llm.tool-done', 1, 1, 'Outcome unknown'],
    ['llm.result-kept', 1, 1, 'sent'],
    ['llm.before-answer', 1, 0, 'sent'],
  ] as const)(
    '[I16.resume] [I16.unknown-told] at %s: the tool ran %i times, and the model is asked %i times more',
    async (point, ran, asked, told) => {
      const { sent, end, second, journal } = await cutOff(point)
      expect(sent).toHaveLength(ran)
      expect(second.fake.requests).toHaveLength(asked)
      expect(end).toMatchObject({ kind: 'say', final: true, text: expect.stringContaining(`Done: ${told}`) })
      expect(journal.kept.map(({ n }) => n)).toEqual(journal.kept.map((_, at) => at + 1))
    },
  )

  it('[I16.unknown-told] a tool that only reads, or that is keyed, is run again', async () => {
    const journal = memoryJournal()
    const calls: string[] = []
    const desk = {
      sendMessage: async (caller: { idempotencyKey: string | null }) => {
        calls.push(String(caller.idempotencyKey))
        return { text: 'ok', isError: false, structured: {} }
      },
    } as unknown as ReturnType<NonNullable<ConnectorDeps['tools']>>
    const input = { platform: 'web', target: 'x', body: 'hi' }
    await journal.add({
      turn: 't_test_1',
      n: 1,
      kind: 'model',
      body: {
        text: '',
        calls: [{ id: 'c1', name: 'send_message', arguments: JSON.stringify(input) }],
        stop: 'end',
        model: 'm1',
        raw: null,
        tokens: 1,
      },
    })
    await journal.add({ turn: 't_test_1', n: 2, kind: 'call', body: { id: 'c1', name: 'send_message' } })
    const second = await scene({ journal, desk, script: [{ text: 'Done.' }] })
    await second.says('send it', { continuation: true })
    expect(calls).toEqual([])
    // A yes allows one beginning.
    await second.decide('allow')
    expect(await second.ended()).toMatchObject({ text: 'Done.' })
    expect(calls).toEqual(['llm:t_test_1:c1'])
  })

  it('[I16.resume] whoever finds the journal written by another stops without a word', async () => {
    const journal = memoryJournal()
    const { says, fake, until, recorded, deps } = await scene({
      journal,
      script: async () => {
        await journal.add({
          turn: 't_test_1',
          n: 1,
          kind: 'model',
          body: { text: 'by another', calls: [], stop: 'end', model: 'm1', raw: null, tokens: 1 },
        })
        return { text: 'mine' }
      },
    })
    await says('hi')
    await until(() => fake.requests[0])
    await deps.clock.settle(50)
    expect(recorded.outputs.filter((one) => one.kind === 'say' || one.kind === 'failed')).toEqual([])
  })

  it('[I16.resume] a clean stop lets a tool end, so that its outcome is known', async () => {
    const journal = memoryJournal()
    let finish: (text: string) => void = () => undefined
    const first = await scene({
      ...{ journal, options: { risky_tools: [] }, script: SCRIPT },
      tools: { mail: () => new Promise<string>((resolve) => (finish = resolve)) },
    })
    await first.says('mail bob')
    await first.until(() => first.ran[0])
    const stopping = first.connector.stop()
    finish('sent')
    await stopping
    expect(journal.kept.map(({ kind }) => kind)).toEqual(['model', 'call', 'result'])
  })

  it('[I16.resume] a clean stop ends the call, and the next life goes on', async () => {
    const journal = memoryJournal()
    const first = await scene({
      journal,
      script: () => ({ text: 'x', before: () => new Promise<void>(() => undefined) }),
    })
    await first.says('hi')
    await first.until(() => first.fake.requests[0])
    await first.connector.stop()
    expect(first.recorded.outputs.filter((one) => one.kind === 'say' || one.kind === 'failed')).toEqual([])
    const second = await scene({ journal, script: [{ text: 'Here I am.' }] })
    expect(await second.turn('hi', { repeat: true })).toMatchObject({ text: 'Here I am.' })
  })
})
