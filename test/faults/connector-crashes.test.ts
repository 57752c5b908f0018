// kill -9 of a real daemon at every step of a turn with a tool, for every connector: a yes is used once, a question that was
// open is open, the answer comes once or labelled, the next message of that chat is answered, and no process goes on alone.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { SUBJECTS, type Subject } from './crash-subjects.ts'
import type { Daemon } from './daemon.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, turnsOf } from './river-checks.ts'
import { askLines, createScene } from './scene.ts'
import { createStepLog, type StepLog } from './step-log.ts'
import { until } from './until.ts'

const scene = createScene()

interface Step {
  readonly step: string
  readonly hold?: string
  readonly crash?: string
  readonly signal?: 'SIGTERM'
  readonly yes?: true
}

/** In the order in which a turn comes by them. */
const STEPS: readonly Step[] = [
  // The agent has the message and has asked for nothing.
  { step: 'before the question', hold: 'asking' },
  { step: 'question open' },
  { step: 'question open, stopped in order', signal: 'SIGTERM' },
  // The verdict is in the row.
  { step: 'decided, not passed on', crash: 'approvals.before-passing', yes: true },
  // And is being passed on: nobody can know how far it came.
  { step: 'being passed on', crash: 'approvals.passing', yes: true },
  { step: 'tool running', hold: 'running', yes: true },
  { step: 'tool done', hold: 'ran', yes: true },
  { step: 'answer half written', hold: 'half', yes: true },
]

interface Approval {
  readonly id: string
  readonly state: string
  readonly behavior: string | null
  readonly description: string
}

/** Oldest first. */
const approvalsOf = async (data: string) =>
  (await askLines<Approval>(data, 'approvals', 'list', '--all')).toReversed()
const pendingOf = async (data: string) => (await approvalsOf(data)).filter(({ state }) => state === 'pending')
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const OVER = ['answered', 'failed', 'expired', 'refused']

/** A chat in which `dev` speaks and decides. */
async function opened(subject: Subject) {
  const data = scene.folder()
  const log: StepLog = createStepLog(join(data, 'work'))
  const agent = await subject.open({ data, log, scene })
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] } }
agents:
  - id: kate
    inbound_bindings: [{ plugin: webhook, instance: demo }]
    connector: ${JSON.stringify(agent.connector)}
`,
  )
  // The second one listens where the first one did: the agent knows that address.
  const port = await freePort()
  return {
    ...{ data, log },
    async start(env: Record<string, string> = {}) {
      const daemon = await scene.start({ data, config, port, env: { ...agent.env, ...env } })
      await agent.attached?.({ data, config })
      return daemon
    },
  }
}

let said = 0
const says = (daemon: Daemon, text: string) =>
  until(`"${text}" is taken`, async () => {
    const posted = await postDemo(daemon.url, text, `m${++said}`).catch(() => null)
    return posted?.status === 200
  })
const allows = (daemon: Daemon, { id }: Approval) => postDemo(daemon.url, `yes ${id}`, `m${++said}`)

/** A first life up to the step; it is over when this resolves. */
async function firstLife(
  subject: Subject,
  step: Step,
  { data, log, start }: Awaited<ReturnType<typeof opened>>,
) {
  if (step.hold) log.hold(step.hold)
  const daemon = await start(step.crash ? { SWITCHBOARD_CRASH_AT: step.crash } : {})
  await says(daemon, 'steps')
  if (step.hold !== 'asking' && !subject.asksNobody) {
    const asked = await until('it is asked', async () => (await pendingOf(data))[0])
    // The daemon may die before it answers.
    if (step.yes) await allows(daemon, asked).catch(() => null)
  }
  if (step.hold) await until(`it is ${step.hold}`, () => log.names().includes(step.hold ?? ''))
  if (step.hold === 'half') await until('it is seen', async () => (await turnsOf(data))[0]?.state === 'seen')
  if (step.crash) expect(await daemon.exited, 'at the crash point').toMatchObject({ signal: 'SIGKILL' })
  else await (step.signal ? daemon.terminate() : daemon.kill9())
}

describe.each(SUBJECTS)('$name', (subject) => {
  const steps = STEPS.filter(({ step }) => !subject.without.includes(step))
  it.each(steps.map((step) => [step.step, step] as const))(
    `[I35.a2] ${subject.name}, ended: %s`,
    async (_, step) => {
      const place = await opened(subject)
      const { data, log } = place
      await firstLife(subject, step, place)

      // What Switchboard started is gone, and did nothing more; hosts that attached live on.
      if (!subject.livesOn) await until('its processes are gone', () => !log.pids().some(isAlive))
      const before = log.names()
      expect(before).not.toContain('denied')
      log.hold(null)

      const daemon = await place.start()
      if (step.step.startsWith('question open')) {
        const open = await pendingOf(data)
        expect(open).toHaveLength(1)
        await until('the turn is taken up', async () => {
          const [turn] = await turnsOf(data)
          return subject.livesOn || (turn?.attempts ?? 0) > 1
        })
      }
      // Whatever is asked gets its yes, once each, until the turn is over.
      const yes = new Set<string>()
      await until('the turn is over', async () => {
        for (const one of await pendingOf(data)) {
          if (yes.has(one.id)) continue
          yes.add(one.id)
          await allows(daemon, one)
        }
        return OVER.includes((await turnsOf(data))[0]?.state ?? '')
      })
      await says(daemon, 'hello')
      await until('the next message is answered', async () =>
        (await turnsOf(data)).some(({ text, state }) => text === 'hello' && state === 'answered'),
      )

      const approvals = await approvalsOf(data)
      const runs = log.names().filter((name) => name === 'running')
      const allowed = approvals.filter(({ behavior }) => behavior === 'allow')
      if (!subject.asksNobody) {
        expect(runs.length, JSON.stringify(approvals)).toBeLessThanOrEqual(allowed.length)
        expect(runs.length).toBeGreaterThan(0)
      }
      // A call that may have run is asked again with the words; one that cannot have run is one question.
      const cannotHaveRun = ['before the question', 'question open', 'decided, not passed on']
      if (!subject.asksNobody && cannotHaveRun.some((one) => step.step.startsWith(one))) {
        expect(approvals).toHaveLength(1)
        expect(runs).toHaveLength(1)
      }
      for (const again of approvals.slice(1)) expect(again.description).toContain('It may already have run')
      const [turn] = await turnsOf(data)
      const sends = (await sendsOf(data)).filter((send) => send.turn === turn?.id && send.cause !== 'prompt')
      const answers = sends.filter(({ text }) => text.includes('Done'))
      expect(turn).toMatchObject({ state: 'answered' })
      expect(answers.map(({ text }) => text)).toEqual([expect.stringContaining('it ran')])
      await expectLedgerHolds(data)
      await daemon.terminate()
      if (!subject.livesOn) await until('nobody is left', () => !log.pids().some(isAlive))
    },
  )
})
