// Now: what needs a person, the counts, the last day, and how every link and agent stands.
import type { ComponentChildren, JSX } from 'preact'
import type { PairingView, StatusReport } from '../../../src/contract/desk-views.ts'
import type { TurnSeries } from '../../../src/contract/turn-series.ts'
import { completeWords } from '../../shared/complete-words.ts'
import { MARKS } from '../../shared/icons.tsx'
import { oneLine } from '../../shared/text.ts'
import { type Asked, api, useAsked } from '../desk.ts'
import { Ago, Empty, Head, Name, Panel, Pill, spanWords, Waiting } from '../parts.tsx'
import { hrefOf } from '../route.ts'
import { SeriesCharts } from '../series.tsx'

export function NowPage({ status }: { readonly status: Asked<StatusReport> }): JSX.Element {
  const pairings = useAsked<{ readonly items: readonly PairingView[] }>(api(['pairings']), [
    'access',
    'turns',
  ])
  const series = useAsked<TurnSeries>(api(['series'], { since: '24h' }), [])
  const now = status.data
  if (now === null)
    return (
      <>
        <Head title="Now" />
        <Waiting problem={status.problem} />
      </>
    )
  return (
    <>
      <Head
        title="Now"
        lead={
          <>
            {now.ready ? 'Ready' : 'Not ready'} · node <Name text={now.node} /> · version {now.version} · up{' '}
            {spanWords(now.uptime_ms)} · {now.store.kind}
          </>
        }
      />
      <Needs now={now} pairings={pairings.data?.items.length ?? 0} />
      <Counts now={now} />
      <Panel title="The last day">
        {series.data === null ? <Waiting problem={series.problem} /> : <SeriesCharts series={series.data} />}
      </Panel>
      <div class="two">
        <Panel title="Links" note="where people talk">
          <Links integrations={now.integrations} />
        </Panel>
        <Panel title="Agents" note="who answers">
          <Agents agents={now.agents} />
        </Panel>
      </div>
      {now.nodes !== undefined && (
        <Panel title="Nodes">
          <ul class="lines">
            {now.nodes.map((one) => (
              <li key={one.node}>
                <span class="line-words">
                  <Name text={one.node} />
                </span>
                <Pill state={one.state === 'up' ? 'up' : 'down'} text={one.state} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

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
  const found: Need[] = []
  const add = (tone: Need['tone'], key: string, words: ComponentChildren, href: string, todo: string) =>
    found.push({ tone, key, words, href, todo })
  if (now.store.problem !== undefined)
    add(
      'bad',
      'store',
      `Messages cannot be stored: ${oneLine(now.store.problem, 300)}`,
      hrefOf('agents'),
      'look',
    )
  if (now.config.problem !== null)
    add(
      'bad',
      'config',
      'The configuration on disk does not hold; the one before is in force',
      hrefOf('config'),
      'see where',
    )
  const pending = now.approvals.pending
  if (pending > 0)
    add(
      'warn',
      'approvals',
      plural(pending, 'approval waits', 'approvals wait'),
      hrefOf('approvals'),
      'decide',
    )
  if ((now.asked ?? 0) > 0)
    add(
      'warn',
      'asked',
      `${plural(now.asked ?? 0, 'conversation asks', 'conversations ask')} for a person`,
      hrefOf('conversations', null, { asked: 'true' }),
      'step in',
    )
  if (pairings > 0)
    add(
      'warn',
      'pairings',
      `${plural(pairings, 'stranger waits', 'strangers wait')} for a yes`,
      hrefOf('people'),
      'look',
    )
  const { failed, unknown } = now.stuck
  if (failed > 0)
    add(
      'bad',
      'failed',
      `${plural(failed, 'message was', 'messages were')} not delivered`,
      hrefOf('outbox', null, { state: 'failed' }),
      'mend',
    )
  if (unknown > 0)
    add(
      'bad',
      'unknown',
      `Of ${plural(unknown, 'message', 'messages')} nobody knows whether it arrived`,
      hrefOf('outbox', null, { state: 'unknown' }),
      'decide',
    )
  for (const one of now.agents)
    if (!one.attached)
      add(
        'bad',
        `agent ${one.id}`,
        <>
          Agent <Name text={one.id} /> is away
          {one.queued > 0 ? `; ${plural(one.queued, 'message waits', 'messages wait')}` : ''}
        </>,
        hrefOf('agents', one.id),
        'why',
      )
  for (const one of now.integrations) {
    if (one.link === 'down' || one.link === 'degraded')
      add(
        'bad',
        `link ${one.id}`,
        <>
          Link <Name text={one.id} /> is {one.link}
          {one.detail === undefined ? '' : `: ${oneLine(one.detail, 120)}`}
        </>,
        hrefOf('agents', one.id),
        'why',
      )
    else if (one.complete.state === 'behind')
      add(
        'warn',
        `behind ${one.id}`,
        <>
          Link <Name text={one.id} /> is {completeWords(one.complete)}
        </>,
        hrefOf('agents', one.id),
        'why',
      )
  }
  return found
}

function Needs({ now, pairings }: { readonly now: StatusReport; readonly pairings: number }): JSX.Element {
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

function plural(many: number, one: string, more: string): string {
  return `${many.toLocaleString()} ${many === 1 ? one : more}`
}

function Counts({ now }: { readonly now: StatusReport }): JSX.Element {
  const { counts, outbox } = now
  const tiles: readonly (readonly [string, number, string, string])[] = [
    ['received', counts.received, '', hrefOf('turns')],
    [
      'on their way',
      counts.queued + counts.handed + counts.seen,
      'live',
      hrefOf('turns', null, { state: 'queued,handed,seen' }),
    ],
    ['answered', counts.answered, 'good', hrefOf('turns', null, { state: 'answered' })],
    ['refused', counts.refused, '', hrefOf('turns', null, { state: 'refused' })],
    [
      'failed or expired',
      counts.failed + counts.expired,
      counts.failed + counts.expired > 0 ? 'bad' : '',
      hrefOf('turns', null, { state: 'failed,expired' }),
    ],
    ['sent', outbox.sent, 'good', hrefOf('outbox', null, { state: 'sent' })],
    ['to be sent', outbox.queued, 'live', hrefOf('outbox', null, { state: 'queued,sending' })],
  ]
  return (
    <ul class="tiles" aria-label="Counts">
      {tiles.map(([word, many, tone, href]) => (
        <li key={word}>
          <a class={`tile${tone === '' ? '' : ` tile-${tone}`}`} href={href}>
            <strong>{many.toLocaleString()}</strong>
            <span>{word}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Links({ integrations }: { readonly integrations: StatusReport['integrations'] }): JSX.Element {
  if (integrations.length === 0) return <Empty>No integration is configured.</Empty>
  return (
    <ul class="lines">
      {integrations.map((one) => (
        <li key={one.id}>
          <a class="line" href={hrefOf('agents', one.id)}>
            <span class="line-words">
              <strong>
                <Name text={one.id} />
              </strong>{' '}
              <span class="quiet">{oneLine(one.platform, 30)}</span>
              <span class={`line-sub${one.complete.state === 'behind' ? ' tone-bad' : ''}`}>
                {completeWords(one.complete)}
              </span>
              <span class="line-sub">
                last in <Ago at={one.last_in_at} none="not since the start" />, last out{' '}
                <Ago at={one.last_out_at} none="not since the start" />
              </span>
            </span>
            <Pill state={one.link} />
          </a>
        </li>
      ))}
    </ul>
  )
}

function Agents({ agents }: { readonly agents: StatusReport['agents'] }): JSX.Element {
  if (agents.length === 0) return <Empty>No agent is configured.</Empty>
  return (
    <ul class="lines">
      {agents.map((one) => (
        <li key={one.id}>
          <a class="line" href={hrefOf('agents', one.id)}>
            <span class="line-words">
              <strong>
                <Name text={one.id} />
              </strong>{' '}
              <span class="quiet">{oneLine(one.connector, 30)}</span>
              {one.detail !== undefined && <span class="line-sub">{oneLine(one.detail, 140)}</span>}
              {one.queued > 0 && (
                <span class="line-sub">{plural(one.queued, 'message waits', 'messages wait')}</span>
              )}
            </span>
            <Pill state={one.attached ? 'attached' : 'down'} text={one.attached ? 'here' : 'away'} />
          </a>
        </li>
      ))}
    </ul>
  )
}
