// What needs a person, at the top of Now: each with where it is mended.
import type { ComponentChildren, JSX } from 'preact'
import type { StatusReport } from '../../../src/contract/operator/desk-views.ts'
import { completeWords } from '../../shared/complete-words.ts'
import { MARKS } from '../../shared/icons.tsx'
import { oneLine, plural } from '../../shared/text.ts'
import { Name, Panel } from '../parts.tsx'
import { hrefOf } from '../route.ts'

interface Need {
  readonly key: string
  readonly tone: 'warn' | 'bad'
  readonly words: ComponentChildren
  readonly href: string
  readonly todo: string
}

/** Also asked for before the takeover's figures were in a status: then there are none. */
type WithHeld = StatusReport & { readonly held?: number; readonly asked?: number }

function needs(now: WithHeld, pairings: number): readonly Need[] {
  return [...ofGround(now), ...ofPeople(now, pairings), ...ofAgents(now), ...ofLinks(now), ...ofFindings(now)]
}

function ofGround({ store, config }: WithHeld): readonly Need[] {
  const found: Need[] = []
  if (store.problem !== undefined) {
    const words = `not storing: messages cannot be stored: ${oneLine(store.problem, 300)}`
    found.push({ tone: 'bad', key: 'store', words, href: hrefOf('agents'), todo: 'look' })
  }
  if (config.problem !== null) {
    const words = 'rejected: the file on disk does not hold; the one before is in force'
    found.push({ tone: 'bad', key: 'config', words, href: hrefOf('config'), todo: 'see where' })
  }
  return found
}

function ofPeople({ approvals, asked = 0 }: WithHeld, pairings: number): readonly Need[] {
  const found: Need[] = []
  if (approvals.pending > 0) {
    const words = plural(approvals.pending, 'approval waits', 'approvals wait')
    found.push({ tone: 'warn', key: 'approvals', words, href: hrefOf('approvals'), todo: 'decide' })
  }
  if (asked > 0) {
    const words = `${plural(asked, 'conversation asks', 'conversations ask')} for a person`
    const href = hrefOf('conversations', null, { asked: 'true' })
    found.push({ tone: 'warn', key: 'asked', words, href, todo: 'step in' })
  }
  if (pairings > 0) {
    const words = `${plural(pairings, 'person is', 'people are')} waiting to be let in`
    found.push({ tone: 'warn', key: 'pairings', words, href: hrefOf('people'), todo: 'look' })
  }
  return found
}

function ofAgents({ agents }: StatusReport): readonly Need[] {
  return agents
    .filter((one) => one.state !== 'attached')
    .map((one) => ({
      tone: 'bad',
      key: `agent ${one.id}`,
      words: (
        <>
          Agent <Name text={one.id} /> is {one.state}
          {one.queued > 0 ? `; ${plural(one.queued, 'message waits', 'messages wait')}` : ''}
        </>
      ),
      href: hrefOf('agents', one.id),
      todo: 'why',
    }))
}

function ofLinks({ integrations }: StatusReport): readonly Need[] {
  return integrations.flatMap((one): readonly Need[] => {
    const where = { href: hrefOf('agents', one.id), todo: 'why' }
    if (one.link === 'down' || one.link === 'degraded') {
      const words = (
        <>
          Link <Name text={one.id} /> is {one.link}
          {one.detail === undefined ? '' : `: ${oneLine(one.detail, 120)}`}
        </>
      )
      return [{ tone: 'bad', key: `link ${one.id}`, words, ...where }]
    }
    if (one.complete.state !== 'behind') return []
    const words = (
      <>
        Link <Name text={one.id} /> is {completeWords(one.complete)}
      </>
    )
    return [{ tone: 'warn', key: `behind ${one.id}`, words, ...where }]
  })
}

/** The findings of `doctor` for which the other functions have no words and no page of their own. */
function ofFindings({ problems = [] }: StatusReport): readonly Need[] {
  return problems
    .filter(({ code }) => !OWN_WORDS.has(code))
    .map(({ subject, severity, word, text, code }, at) => ({
      tone: severity === 'problem' ? 'bad' : 'warn',
      key: `${code} ${subject} ${at}`,
      words: `${word}: ${oneLine(text, 300)}`,
      ...(code === 'sends-undelivered'
        ? { href: hrefOf('outbox'), todo: 'mend' }
        : { href: hrefOf('agents'), todo: 'why' }),
    }))
}

const OWN_WORDS: ReadonlySet<string> = new Set([
  ...['store-away', 'config-rejected', 'link-down', 'history-behind'],
  ...['agent-absent', 'agent-unreachable', 'agent-failing'],
])

export function Needs({
  now,
  pairings,
}: {
  readonly now: StatusReport
  readonly pairings: number
}): JSX.Element {
  const found = needs(now, pairings)
  if (found.length === 0)
    return (
      <section class="calm" aria-label="Needs a person">
        <MARKS.one />
        <p>Nothing needs you.</p>
      </section>
    )
  return (
    <Panel title="Needs a person">
      <ul class="needs">
        {found.map((one) => (
          <li key={one.key}>
            <a class={`need need-${one.tone}`} href={one.href} data-row>
              <span>{one.words}</span>
              <span class="need-todo">{one.todo}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
