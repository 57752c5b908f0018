// What needs a person, at the top of Now: each with a link to the page where it is fixed.
import type { JSX } from 'preact'
import type { StatusReport } from '../../../src/contract/operator/views.ts'
import { MARKS } from '../../shared/icons.tsx'
import { oneLine } from '../../shared/text.ts'
import { Panel } from '../parts.tsx'
import { hrefOf } from '../route.ts'
import { words } from '../words.ts'

const { needs: needsOf } = words
const { todo } = needsOf

interface Need {
  readonly key: string
  readonly tone: 'warn' | 'bad'
  readonly text: string
  readonly href: string
  readonly todo: string
}

/** An older gateway's status has no figures of takeovers. */
type WithHeld = StatusReport & { readonly held?: number; readonly asked?: number }

function needs(now: WithHeld, pairings: number): readonly Need[] {
  return [...ofPeople(now, pairings), ...ofFindings(now)]
}

function ofPeople({ approvals, asked = 0 }: WithHeld, pairings: number): readonly Need[] {
  const found: Need[] = []
  if (approvals.pending > 0) {
    const text = needsOf.approvals({ count: approvals.pending })
    found.push({ tone: 'warn', key: 'approvals', text, href: hrefOf('approvals'), todo: todo.decide })
  }
  if (asked > 0) {
    const text = needsOf.asked({ count: asked })
    const href = hrefOf('conversations', null, { asked: 'true' })
    found.push({ tone: 'warn', key: 'asked', text, href, todo: todo.stepIn })
  }
  if (pairings > 0) {
    const text = needsOf.pairings({ count: pairings })
    found.push({ tone: 'warn', key: 'pairings', text, href: hrefOf('people'), todo: todo.look })
  }
  return found
}

/** Shows doctor's findings under the same names, each with the page where a person looks next. */
function ofFindings({ problems = [], agents }: StatusReport): readonly Need[] {
  return problems.map(({ subject, severity, word, text, code }, at) => {
    const [kind, id] = subject.split(' ')
    const queued = HOLDS_TURNS.test(code) ? (agents.find((one) => one.id === id)?.queued ?? 0) : 0
    const waiting = queued === 0 ? '' : `; ${needsOf.messages({ count: queued })}`
    const hasPage = kind === 'agent' || kind === 'integration'
    return {
      tone: severity === 'problem' ? 'bad' : 'warn',
      key: `${code} ${subject} ${at}`,
      text: `${word}: ${oneLine(WORDS[code] ?? text, 300)}${waiting}`,
      href: hrefOf('agents', hasPage ? id : null),
      todo: todo.why,
      ...PAGES[code],
    }
  })
}

const HOLDS_TURNS = /^agent-(absent|unreachable|failing)$/

/** Replaces a text that the linked page shows in full. */
const WORDS: Readonly<Record<string, string>> = {
  'config-rejected': needsOf.configRejected,
}

const PAGES: Readonly<Record<string, Pick<Need, 'href' | 'todo'>>> = {
  'config-rejected': { href: hrefOf('config'), todo: todo.where },
  'sends-undelivered': { href: hrefOf('outbox'), todo: todo.mend },
}

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
      <section class="calm" aria-label={needsOf.title}>
        <MARKS.one />
        <p>{needsOf.nothing}</p>
      </section>
    )
  return (
    <Panel title={needsOf.title}>
      <ul class="needs">
        {found.map((one) => (
          <li key={one.key}>
            <a class={`need need-${one.tone}`} href={one.href} data-row>
              <span>{one.text}</span>
              <span class="need-todo">{one.todo}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
