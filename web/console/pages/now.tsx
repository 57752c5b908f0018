// Now: what needs a person, the counts, the last day, and the state of every link and agent.
import type { JSX } from 'preact'
import type { StatusReport } from '../../../src/contract/operator/views.ts'
import { completeWords } from '../../shared/complete-words.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api } from '../api.ts'
import { Ago, Empty, Head, Name, Panel, Pill, spanWords, Waiting } from '../parts.tsx'
import { type Asked, useAsked } from '../queries.ts'
import { hrefOf } from '../route.ts'
import { SeriesCharts } from '../series.tsx'
import { words } from '../words.ts'
import { Needs } from './needs.tsx'

export function NowPage({ status }: { readonly status: Asked<StatusReport> }): JSX.Element {
  const pairings = useAsked(api('GET /api/pairings'), ['access', 'turns'])
  const series = useAsked(api('GET /api/series', { query: { since: '24h' } }), [])
  const now = status.data
  if (now === null)
    return (
      <>
        <Head title={words.frame.titles.now} />
        <Waiting problem={status.problem} />
      </>
    )
  return (
    <>
      <Head
        title={words.frame.titles.now}
        lead={
          <Filled
            text={words.now.running}
            parts={{
              ready: now.ready ? words.now.ready : words.now.notReady,
              node: <Name text={now.node} />,
              version: now.version,
              span: spanWords(now.uptime_ms),
              store: now.store.kind,
            }}
          />
        }
      />
      <Needs now={now} pairings={pairings.data?.items.length ?? 0} />
      <Counts now={now} />
      <Panel title={words.now.lastDay}>
        {series.data === null ? <Waiting problem={series.problem} /> : <SeriesCharts series={series.data} />}
      </Panel>
      <div class="two">
        <Panel title={words.now.links} note={words.now.linksNote}>
          <Links integrations={now.integrations} />
        </Panel>
        <Panel title={words.now.agents} note={words.now.agentsNote}>
          <Agents agents={now.agents} />
        </Panel>
      </div>
      {now.nodes !== undefined && (
        <Panel title={words.now.nodes}>
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

function Counts({ now }: { readonly now: StatusReport }): JSX.Element {
  const { counts, outbox } = now
  const tiles: readonly (readonly [string, number, string, string])[] = [
    [words.now.received, counts.received, '', hrefOf('turns')],
    [
      words.now.onTheirWay,
      counts.queued + counts.handed + counts.seen,
      'live',
      hrefOf('turns', null, { state: 'queued,handed,seen' }),
    ],
    [words.now.answered, counts.answered, 'good', hrefOf('turns', null, { state: 'answered' })],
    [words.now.refused, counts.refused, '', hrefOf('turns', null, { state: 'refused' })],
    [
      words.now.failed,
      counts.failed + counts.expired,
      counts.failed + counts.expired > 0 ? 'bad' : '',
      hrefOf('turns', null, { state: 'failed,expired' }),
    ],
    [words.now.sent, outbox.sent, 'good', hrefOf('outbox', null, { state: 'sent' })],
    [words.now.toBeSent, outbox.queued, 'live', hrefOf('outbox', null, { state: 'queued,sending' })],
  ]
  return (
    <ul class="tiles" aria-label={words.now.counts}>
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
  if (integrations.length === 0) return <Empty>{words.now.noIntegrations}</Empty>
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
                <Filled
                  text={words.now.lastTraffic}
                  parts={{
                    lastIn: <Ago at={one.last_in_at} none={words.now.notSinceStart} />,
                    lastOut: <Ago at={one.last_out_at} none={words.now.notSinceStart} />,
                  }}
                />
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
  if (agents.length === 0) return <Empty>{words.now.noAgents}</Empty>
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
              {one.queued > 0 && <span class="line-sub">{words.needs.messages({ count: one.queued })}</span>}
            </span>
            <Pill state={one.state} />
          </a>
        </li>
      ))}
    </ul>
  )
}
