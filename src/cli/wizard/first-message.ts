// The end of the wizard: waits for the first message, shows who wrote it, pairs them when their code is typed, and shows the
// answer arrive. It only looks and approves: the daemon does the work, and goes on when the wait is ended.
import type { PairingView, TurnView } from '../../contract/index.ts'
import type { Prompts } from '../../setup/asker.ts'
import { wordsIn } from '../../words/index.ts'
import type { Api } from '../api.ts'
import type { Context } from '../context.ts'
import { oneLine } from '../output/text.ts'

export interface FirstMessageDeps {
  readonly integrations: readonly string[]
  /** ISO 8601. Messages before it do not count. */
  readonly since: string
  /** Resolves when the person ends the wait. */
  readonly ended: Promise<void>
  pause(): Promise<void>
}

/** True: the answer arrived. */
export async function awaitFirstMessage(
  context: Context,
  prompts: Prompts,
  { integrations, since, ended, pause }: FirstMessageDeps,
): Promise<boolean> {
  const words = wordsIn().setup.firstMessage
  const daemon = await context.daemon()
  let over = false
  void ended.then(() => {
    over = true
  })
  const left = new Set<string>()
  let turn: TurnView | null = null
  while (!over) {
    for (const pairing of (await daemon.ask('GET /api/pairings')).items) {
      if (left.has(pairing.code) || !integrations.includes(pairing.integration)) continue
      left.add(pairing.code)
      await pair(daemon, prompts, pairing)
    }
    const turns = (await daemon.ask('GET /api/turns', { query: { since, limit: 50 } })).items
    turn ??=
      turns.filter((one) => integrations.includes(one.integration) && one.state !== 'refused').at(-1) ?? null
    if (turn !== null) {
      const name = nameOf(turn.sender_name, turn.sender)
      prompts.say(words.wrote({ name, text: beginningOf(turn.text) }), 'good')
      break
    }
    await Promise.race([pause(), ended])
  }
  while (!over && turn !== null) {
    const { id } = turn
    const sends = (await daemon.ask('GET /api/outbox', { query: { since, limit: 50 } })).items
    const answer = sends.find((one) => one.turn === id && one.state === 'sent')
    if (answer !== undefined) {
      const address = oneLine(answer.to)
      prompts.say(words.answered({ address, text: beginningOf(answer.text) }), 'good')
      return true
    }
    const now = await daemon.ask('GET /api/turns/{id}', { path: { id } })
    if (['failed', 'expired'].includes(now.state)) {
      prompts.say(words.notAnswered(now), 'warning')
      return false
    }
    await Promise.race([pause(), ended])
  }
  return false
}

/** Never without the code: it proves that the person here and the person who wrote are the same. */
async function pair(
  daemon: Api,
  prompts: Prompts,
  { code, integration, sender, sender_name }: PairingView,
): Promise<void> {
  const words = wordsIn().setup.firstMessage
  const name = nameOf(sender_name ?? undefined, sender)
  prompts.say(words.wasToldCode({ name, integration }))
  const typed = await prompts.text(words.askCode, {
    fallback: '',
    check: (value) => (value === '' || value.trim().toLowerCase() === code ? null : words.wrongCode),
  })
  if (typed.trim() === '') return prompts.say(words.leftOut)
  const body = await whoIsIt(daemon, prompts)
  const { granted } = await daemon.ask('POST /api/pairings/{code}/approve', { path: { code }, body })
  prompts.say(words.paired({ name, granted: oneLine(granted) }), 'good')
}

/** Pairing gives the right to talk only. The person here says whether they wrote themselves. */
async function whoIsIt(daemon: Api, prompts: Prompts) {
  const users = (await daemon.ask('GET /api/users')).items
  // Without configured users there is one: the person here.
  const isConfigured = users.length !== 1 || users[0]?.id !== 'local'
  const words = wordsIn().setup.firstMessage
  const answer = await prompts.one(words.isThisYou, [
    ...(isConfigured
      ? users.map(({ id }) => ({
          value: `user:${id}`,
          label: words.iAm({ user: id }),
          hint: words.iAmHint,
        }))
      : [{ value: 'me', label: words.thisIsMe, hint: words.approverHint }]),
    { value: 'approver', label: words.approver, hint: words.approverHint },
    { value: 'talk', label: words.talk, hint: words.talkHint },
  ])
  if (answer.startsWith('user:')) return { user: answer.slice('user:'.length) }
  return answer === 'talk' ? {} : { [answer]: true }
}

/** As much of a text as fits beside its sender. */
const beginningOf = (text: string | null) => oneLine(text ?? '').slice(0, 200)

const nameOf = (name: string | undefined, id: string) =>
  name === undefined || name === id ? oneLine(id) : `${oneLine(name)} (${oneLine(id)})`
