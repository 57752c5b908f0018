// The turn log: every received message, by source, agent, person, state and time. With charts, exports and the ledger's
// proof.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { TurnSeries } from '../../../src/contract/operator/turn-series.ts'
import type { StatusReport, TurnView } from '../../../src/contract/operator/views.ts'
import type { AuditReport } from '../../../src/contract/store/records.ts'
import { call } from '../../shared/http.ts'
import { oneLine } from '../../shared/text.ts'
import { api } from '../api.ts'
import { Choice, TextFilter } from '../fields.tsx'
import { usePages } from '../paged.ts'
import { Ago, Empty, Head, Name, Panel, Pill, Waiting } from '../parts.tsx'
import { type Asked, useAsked } from '../queries.ts'
import { reasonWords } from '../reasons.ts'
import { go, hrefOf, type Route } from '../route.ts'
import { SeriesCharts } from '../series.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { words } from '../words.ts'
import { OneTurn } from './turn.tsx'

const texts = words.turns

const STATES: readonly (readonly [string, string])[] = [
  ['', texts.states.any],
  ['queued,handed,seen', texts.states.onTheirWay],
  ['answered', texts.states.answered],
  ['refused', texts.states.refused],
  ['consumed', texts.states.consumed],
  ['failed,expired', texts.states.failed],
]
const TIMES: readonly (readonly [string, string])[] = [
  ['', texts.times.any],
  ['1h', texts.times.hour],
  ['24h', texts.times.day],
  ['7d', texts.times.week],
  ['30d', texts.times.month],
]
/** The most turns that one query covers. */
const SPAN = 50_000
const FILTERS = ['state', 'agent', 'source', 'sender', 'since'] as const

export function TurnsPage(props: {
  readonly route: Route
  readonly status: Asked<StatusReport>
}): JSX.Element {
  const { route, status } = props
  if (route.item !== null) return <OneTurn key={route.item} id={route.item} />
  return <TurnLog route={route} status={status} />
}

function TurnLog({
  route,
  status,
}: {
  readonly route: Route
  readonly status: Asked<StatusReport>
}): JSX.Element {
  const filter = Object.fromEntries(FILTERS.map((key) => [key, route.query.get(key) ?? '']))
  const { state = '', agent = '', source = '', sender = '', since = '' } = filter
  const list = usePages(
    api('GET /api/turns', { query: { ...filter, limit: 100, span: SPAN, chars: 400 } }),
    ['turn', 'turns'],
    (one) => one.id,
  )
  const series = useAsked(
    api('GET /api/series', { query: { since: since === '' ? '24h' : since, agent, source } }),
    [],
  )
  const pick = (key: string) => (value: string) => go('turns', null, { ...filter, [key]: value })
  const download = (format: 'ndjson' | 'csv') =>
    api('GET /api/turns/export', { query: { ...filter, format } })
  const agents = (status.data?.agents ?? []).map((one) => [one.id, oneLine(one.id, 40)] as const)
  return (
    <>
      <Head title={words.frame.titles.turns} lead={texts.lead}>
        <a class="button small" href={download('ndjson')} download="switchboard-turns.ndjson">
          NDJSON
        </a>
        <a class="button small" href={download('csv')} download="switchboard-turns.csv">
          CSV
        </a>
      </Head>
      <div class="filters">
        <Choice label={texts.state} value={state} options={STATES} onPick={pick('state')} />
        <Choice
          label={texts.agent}
          value={agent}
          options={[['', texts.anyAgent], ...agents]}
          onPick={pick('agent')}
        />
        <Choice
          label={texts.source}
          value={source}
          options={[['', texts.anySource], ...sourcesOf(status.data)]}
          onPick={pick('source')}
        />
        <TextFilter
          label={texts.person}
          value={sender}
          placeholder={texts.personId}
          onText={pick('sender')}
        />
        <Choice label={texts.time} value={since} options={TIMES} onPick={pick('since')} />
      </div>
      <Panel title={since === '' ? texts.lastDay : texts.chosenTime}>
        {series.data === null ? (
          <Waiting problem={series.problem} />
        ) : (
          <>
            <SeriesCharts series={series.data} />
            <Refusals series={series.data} />
          </>
        )}
      </Panel>
      <Panel title={texts.turns} note={texts.newestFirst}>
        {list.items === null ? (
          <Waiting problem={list.problem} />
        ) : list.items.length === 0 && list.done ? (
          <Empty>{texts.none}</Empty>
        ) : (
          <VirtualList
            label={texts.turns}
            items={list.items}
            keyOf={(one) => one.id}
            height={64}
            onEnd={list.more}
            href={(one) => hrefOf('turns', one.id)}
            row={(one) => <TurnRow one={one} />}
          />
        )}
      </Panel>
      <Ledger />
    </>
  )
}

/** The sources as turns name them: the platform and the integration; a channel server by its own name. */
function sourcesOf(status: StatusReport | null): readonly (readonly [string, string])[] {
  const links = (status?.integrations ?? []).map((one) => {
    const server = /^channel:(.+)@[^@]*$/.exec(one.id)?.[1]
    return server === undefined ? `${one.platform}:${one.id}` : `channel:${server}`
  })
  const schedules = (status?.schedules ?? []).map((one) => `schedule:${one.id}`)
  return [...new Set([...links, ...schedules])].map((one) => [one, oneLine(one, 50)] as const)
}

function Refusals({ series }: { readonly series: TurnSeries }): JSX.Element | null {
  if (series.reasons.length === 0) return null
  const most = Math.max(...series.reasons.map((one) => one.count))
  return (
    <section aria-label={texts.refusals}>
      <h3>{texts.refusals}</h3>
      <ul class="bars">
        {series.reasons.slice(0, 12).map((one) => (
          <li key={one.reason}>
            <span class="bars-words">{reasonWords(one.reason)}</span>
            <span class="bars-box" aria-hidden="true">
              <span style={{ width: `${Math.max(2, (100 * one.count) / most)}%` }} />
            </span>
            <span class="bars-count">{one.count.toLocaleString()}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function TurnRow({ one }: { readonly one: TurnView }): JSX.Element {
  return (
    <>
      <span class="row-main">
        <span>
          {one.text === null ? <i class="quiet">{texts.noText}</i> : <Name text={one.text} max={160} />}
        </span>
        <span class="row-sub">
          <Name text={one.sender_name ?? one.sender} max={40} /> · <Name text={one.source} max={40} />
          {one.reason === null ? '' : ` · ${one.reason}`}
        </span>
      </span>
      <span class="row-side">
        <Pill state={one.state} />
        <Ago at={one.received_at} />
      </span>
    </>
  )
}

function Ledger(): JSX.Element {
  const [report, setReport] = useState<AuditReport | string | null>(null)
  const [busy, setBusy] = useState(false)
  const verify = async () => {
    setBusy(true)
    const answer = await call('GET', api('GET /api/audit/verify'))
    setReport(answer.ok ? (answer.body as unknown as AuditReport) : answer.problem)
    setBusy(false)
  }
  return (
    <Panel title={texts.ledger} note={texts.ledgerNote}>
      <div class="buttons">
        <button type="button" class="button" disabled={busy} onClick={() => void verify()}>
          {busy ? texts.verifying : texts.verify}
        </button>
        <a class="button small" href="/api/audit/export?format=ndjson" download="switchboard-audit.ndjson">
          {texts.exportAs({ format: 'NDJSON' })}
        </a>
        <a class="button small" href="/api/audit/export?format=csv" download="switchboard-audit.csv">
          {texts.exportAs({ format: 'CSV' })}
        </a>
      </div>
      <p class="spaced" role="status">
        {report === null ? (
          ''
        ) : typeof report === 'string' ? (
          oneLine(report, 300)
        ) : (
          <Verdict report={report} />
        )}
      </p>
    </Panel>
  )
}

function Verdict({ report }: { readonly report: AuditReport }): JSX.Element {
  const { conservation } = report
  return (
    <span class={report.ok ? 'tone-good' : 'tone-bad'}>
      {texts.verdict({ ...conservation, ok: report.ok, entries: report.entries, chain: report.chain })}
      {report.brokenAt === undefined
        ? ''
        : texts.brokenAt({ entry: report.brokenAt.seq, problem: oneLine(report.brokenAt.problem, 200) })}
    </span>
  )
}
