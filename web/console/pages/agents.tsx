// Agents and gates: the way of a message to each agent, gate by gate, with the reason and the key that changes it.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DoctorReport } from '../../../src/contract/operator/doctor-report.ts'
import type { GateView } from '../../../src/contract/operator/findings.ts'
import { completeWords } from '../../shared/complete-words.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { Ago, Empty, Facts, Head, Name, Outcome, Panel, Pill, Waiting } from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { reasonWords } from '../reasons.ts'
import { hrefOf, type Route } from '../route.ts'
import { words } from '../words.ts'

const texts = words.agents
const { facts } = texts

type Integration = DoctorReport['integrations'][number]
type Agent = DoctorReport['agents'][number]

export function AgentsPage({ route }: { readonly route: Route }): JSX.Element {
  const doctor = useAsked(api('GET /api/doctor'), ['config', 'access', 'nodes', 'approval'])
  const report = doctor.data
  const { item } = route
  const agents = report?.agents.filter((one) => item === null || one.id === item) ?? []
  const integrations =
    report?.integrations.filter(
      (one) =>
        item === null ||
        one.id === item ||
        agents.some((agent) => agent.bindings.some((b) => b.integration === one.id)),
    ) ?? []
  const shut = (one: Agent) => one.bindings.some((binding) => binding.gates.some((gate) => !gate.pass))
  agents.sort((one, other) => Number(shut(other)) - Number(shut(one)))
  const closed = report === null ? 0 : closedGates(report)
  return (
    <>
      <Head
        title={item === null ? words.frame.titles.agents : oneLine(item, 60)}
        lead={
          item === null ? (
            report === null ? (
              texts.lead
            ) : closed === 0 ? (
              texts.allOpen
            ) : (
              texts.closed({ count: closed })
            )
          ) : (
            <a href={hrefOf('agents')}>{texts.all}</a>
          )
        }
      >
        <a class="button small" href={hrefOf('config')}>
          {words.frame.titles.config}
        </a>
      </Head>
      {report === null ? (
        <Waiting problem={doctor.problem} />
      ) : (
        <>
          {agents.map((one) => (
            <AgentPanel key={one.id} one={one} report={report} />
          ))}
          {integrations.map((one) => (
            <IntegrationPanel key={one.id} one={one} />
          ))}
          {agents.length === 0 && integrations.length === 0 && <Empty>{texts.none}</Empty>}
          {item === null && <Servers report={report} />}
          {item === null && <Others report={report} />}
        </>
      )}
    </>
  )
}

function closedGates(report: DoctorReport): number {
  const gates = [
    ...report.integrations.flatMap((one) => one.gates),
    ...report.agents.flatMap((one) => one.bindings.flatMap((binding) => binding.gates)),
  ]
  return new Set(gates.filter((gate) => !gate.pass).map((gate) => `${gate.gate} ${gate.key}`)).size
}

function Gates({ gates }: { readonly gates: readonly GateView[] }): JSX.Element {
  return (
    <ul class="gates">
      {gates.map((one) => (
        <li
          key={`${one.gate} ${one.key}`}
          class={one.pass ? (one.flagged ? 'gate-flagged' : 'gate-open') : 'gate-closed'}
        >
          <span class="gate-mark" aria-hidden="true">
            {one.pass ? (one.flagged ? '!' : '✓') : '✗'}
          </span>
          <span class="gate-name">
            <Name text={one.gate} />
            <span class="hidden">{texts.gate[one.pass ? (one.flagged ? 'wide' : 'open') : 'closed']}</span>
          </span>
          <span class="gate-why">{oneLine(one.reason, 300)}</span>
          <a class="gate-key" href={hrefOf('config', null, { key: one.key })}>
            <code>{oneLine(one.key, 120)}</code>
          </a>
        </li>
      ))}
    </ul>
  )
}

function AgentPanel({ one, report }: { readonly one: Agent; readonly report: DoctorReport }): JSX.Element {
  const { can } = useConsole()
  const { processes = [] } = one
  return (
    <Panel title={texts.agent({ name: oneLine(one.id, 60) })} note={<Pill state={one.state} />}>
      <Facts
        facts={[
          [facts.connector, oneLine(one.connector, 40)],
          [facts.host, one.detail === undefined ? null : oneLine(one.detail, 300)],
          [facts.waiting, one.queued === 0 ? null : texts.messages({ count: one.queued })],
          [facts.lastMessage, <Ago key="l" at={one.last_message_at} />],
          [
            facts.approvals,
            one.approvals_pending === 0 ? null : (
              <a key="a" href={hrefOf('approvals')}>
                {texts.approvalsWait({ count: one.approvals_pending })}
              </a>
            ),
          ],
          [
            facts.tryIt,
            can('rights.give') ? (
              <a key="t" href={hrefOf('try', one.id)}>
                {texts.writeToIt}
              </a>
            ) : null,
          ],
        ]}
      />
      {processes.map((run) => (
        <p key={run.pid} class="line-sub">
          <Filled
            text={texts.process}
            parts={{ pid: run.pid, name: <Name text={run.name} />, time: <Ago at={run.since} /> }}
          />
          {run.memory_bytes === null
            ? ''
            : texts.memory({ megabytes: Math.round(run.memory_bytes / 1_048_576) })}
          {run.stderr.length === 0 ? '' : texts.lastLine({ line: oneLine(run.stderr.at(-1) ?? '', 160) })}
        </p>
      ))}
      {one.bindings.length === 0 && <Empty>{texts.unbound}</Empty>}
      {one.bindings.map((binding) => (
        <section
          key={`${binding.integration} ${binding.conversations}`}
          aria-label={texts.binding({ name: oneLine(binding.integration, 60) })}
        >
          <h3>
            <Filled text={texts.from} parts={{ integration: <Name text={binding.integration} /> }} />{' '}
            <span class="quiet">{oneLine(binding.conversations, 80)}</span>
          </h3>
          <Gates gates={binding.gates} />
        </section>
      ))}
      {(report.unseen ?? [])
        .filter((unseen) => unseen.agent === one.id)
        .map((unseen) => (
          <p key={unseen.turn} class="tone-bad">
            <Filled
              text={texts.unseen}
              parts={{
                turn: <a href={hrefOf('turns', unseen.turn)}>{unseen.turn}</a>,
                time: <Ago at={unseen.since} />,
                why: oneLine(unseen.why, 300),
              }}
            />
          </p>
        ))}
    </Panel>
  )
}

function IntegrationPanel({ one }: { readonly one: Integration }): JSX.Element {
  const { can } = useConsole()
  return (
    <Panel title={texts.integration({ name: oneLine(one.id, 60) })} note={<Pill state={one.link} />}>
      <Facts
        facts={[
          [facts.platform, oneLine(one.platform, 40)],
          [facts.link, one.detail === undefined ? null : oneLine(one.detail, 300)],
          [
            facts.complete,
            <span key="c" class={one.complete.state === 'behind' ? 'tone-bad' : ''}>
              {completeWords(one.complete)}
            </span>,
          ],
          [facts.late, one.complete.late === 0 ? null : texts.messages({ count: one.complete.late })],
          [facts.lastIn, <Ago key="i" at={one.last_in_at} none={words.now.notSinceStart} />],
          [facts.lastOut, <Ago key="o" at={one.last_out_at} none={words.now.notSinceStart} />],
          [facts.toBeSent, one.sends_waiting === 0 ? null : String(one.sends_waiting)],
          [
            facts.notSent,
            one.sends_failed === 0 ? null : (
              <a key="f" href={hrefOf('outbox')}>
                {one.sends_failed}
              </a>
            ),
          ],
        ]}
      />
      <h3>{texts.gates}</h3>
      <Gates gates={one.gates} />
      {one.refusals.length > 0 && (
        <>
          <h3>{texts.refused}</h3>
          <ul class="lines">
            {one.refusals.map((refusal) => (
              <li key={refusal.reason}>
                <span class="line-words">
                  {reasonWords(refusal.reason)}
                  <span class="line-sub">
                    <Filled
                      text={texts.toChange}
                      parts={{
                        key: (
                          <a href={hrefOf('config', null, { key: refusal.key })}>
                            <code>{oneLine(refusal.key, 120)}</code>
                          </a>
                        ),
                      }}
                    />
                  </span>
                </span>
                <strong>{refusal.count.toLocaleString()}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
      {one.platform === 'chorus' && can('rights.give') && <ConnectionString id={one.id} />}
    </Panel>
  )
}

function ConnectionString({ id }: { readonly id: string }): JSX.Element {
  const { busy, outcome, act } = useAct()
  const [minted, setMinted] = useState<string | null>(null)
  const mint = (verb: 'connect' | 'rotate') => async () => {
    const answer = await act(verb, () => post(`POST /api/chorus/{id}/${verb}`, { path: { id } }))
    const text = answer?.body.connection_string
    setMinted(answer?.ok && typeof text === 'string' ? text : null)
  }
  return (
    <>
      <h3>{texts.connectionString}</h3>
      <div class="buttons">
        <button type="button" class="button small" disabled={busy !== null} onClick={mint('connect')}>
          {texts.create}
        </button>
        <button
          type="button"
          class="button button-bad small"
          disabled={busy !== null}
          onClick={mint('rotate')}
        >
          {texts.rotate}
        </button>
      </div>
      <Outcome outcome={outcome} />
      {minted !== null && (
        <label class="field wide spaced">
          <span>{texts.secret}</span>
          <input readOnly value={minted} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
    </>
  )
}

function Servers({ report }: { readonly report: DoctorReport }): JSX.Element | null {
  if (report.servers === undefined || report.servers.length === 0) return null
  return (
    <Panel title={texts.servers} note={texts.serversNote}>
      <ul class="lines">
        {report.servers.map((one) => (
          <li key={one.name}>
            <span class="line-words">
              <strong>
                <Name text={one.name} />
              </strong>
              {one.detail !== undefined && one.detail !== null && (
                <span class="line-sub">{oneLine(one.detail, 300)}</span>
              )}
            </span>
            <Pill state={one.state === 'up' ? 'up' : 'down'} text={one.state} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Others({ report }: { readonly report: DoctorReport }): JSX.Element | null {
  const { turned_away: away = [], tools_left_out: left = [] } = report
  if (away.length === 0 && left.length === 0) return null
  return (
    <Panel title={texts.turnedAway}>
      <ul class="lines">
        {away.map((one) => (
          <li key={`${one.agent} ${one.at}`}>
            <span class="line-words">
              <Filled
                text={texts.hostRefused}
                parts={{ agent: <Name text={one.agent} />, why: oneLine(one.reason, 300) }}
              />
            </span>
            <Ago at={one.at} />
          </li>
        ))}
        {left.map((one) => (
          <li key={`${one.session} ${one.server}`}>
            <span class="line-words">
              <Filled
                text={texts.toolsLeftOut}
                parts={{ server: <Name text={one.server} />, why: oneLine(one.problem, 300) }}
              />
            </span>
            <Ago at={one.at} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
