// The end of the wizard: waits for the first message, shows who wrote it, pairs them when their code is typed, and shows the
// answer arrive. It only looks and approves: the daemon does the work, and goes on when the wait is ended.
import type { PairingView, TurnView } from '../../contract/index.ts'
import type { Prompts } from '../../setup/asker.ts'
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
      prompts.say(
        `${nameOf(turn.sender_name, turn.sender)} wrote: ${oneLine(turn.text ?? '').slice(0, 200)}`,
        'good',
      )
      break
    }
    await Promise.race([pause(), ended])
  }
  while (!over && turn !== null) {
    const { id } = turn
    const sends = (await daemon.ask('GET /api/outbox', { query: { since, limit: 50 } })).items
    const answer = sends.find((one) => one.turn === id && one.state === 'sent')
    if (answer !== undefined) {
      prompts.say(
        `the answer arrived (${oneLine(answer.to)}): ${oneLine(answer.text ?? '').slice(0, 200)}`,
        'good',
      )
      return true
    }
    const now = await daemon.ask('GET /api/turns/{id}', { path: { id } })
    if (['failed', 'expired'].includes(now.state)) {
      prompts.say(
        `it was not answered: ${now.state}${now.reason === null ? '' : ` (${now.reason})`}; see: switchboard doctor`,
        'warning',
      )
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
  prompts.say(`${nameOf(sender_name ?? undefined, sender)} wrote on ${integration}, and was told a code.`)
  const typed = await prompts.text('The code that they were told (empty: leave them out)', {
    fallback: '',
    check: (value) => (value === '' || value.trim().toLowerCase() === code ? null : 'that is not their code'),
  })
  if (typed.trim() === '') return prompts.say(`left out; later: switchboard pair approve CODE`)
  const body = await whoIsIt(daemon, prompts)
  const { granted } = await daemon.ask('POST /api/pairings/{code}/approve', { path: { code }, body })
  const name = nameOf(sender_name ?? undefined, sender)
  prompts.say(`${name} ${oneLine(granted)}. They are told, and may write again.`, 'good')
}

/** Pairing gives the right to talk only. The person here says whether they wrote themselves. */
async function whoIsIt(daemon: Api, prompts: Prompts) {
  const users = (await daemon.ask('GET /api/users')).items
  // Without configured users there is one: the person here.
  const isConfigured = users.length !== 1 || users[0]?.id !== 'local'
  const answer = await prompts.one('Is this you?', [
    ...(isConfigured
      ? users.map(({ id }) => ({
          value: `user:${id}`,
          label: `Yes, I am ${id}`,
          hint: 'what that user may do',
        }))
      : [{ value: 'me', label: 'Yes, this is me', hint: 'may talk and approve tool calls' }]),
    { value: 'approver', label: 'No, but they may also approve', hint: 'may talk and approve tool calls' },
    { value: 'talk', label: 'No, they may talk', hint: 'and approve nothing' },
  ])
  if (answer.startsWith('user:')) return { user: answer.slice('user:'.length) }
  return answer === 'talk' ? {} : { [answer]: true }
}

const nameOf = (name: string | undefined, id: string) =>
  name === undefined || name === id ? oneLine(id) : `${oneLine(name)} (${oneLine(id)})`
