// People: waiting strangers, access and approval rights with their reasons, users with their roles, and personal data.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { PairingView, StatusReport } from '../../../src/contract/operator/views.ts'
import type { AccessView } from '../../../src/operations/people/access.ts'
import type { BodyOf } from '../../../src/operations/routes.ts'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { TextFilter } from '../fields.tsx'
import { Ago, Empty, Head, Name, Outcome, Panel, Pill, Waiting } from '../parts.tsx'
import { type Asked, useAct, useAsked } from '../queries.ts'
import { PersonData } from './person-data.tsx'

export function PeoplePage({ status }: { readonly status: Asked<StatusReport> }): JSX.Element {
  const pairings = useAsked(api('GET /api/pairings'), ['access', 'turns'])
  const access = useAsked(api('GET /api/access'), ['access', 'config'])
  const users = useAsked(api('GET /api/users'), ['access', 'config'])
  const { can } = useConsole()
  const [letIn, setLetIn] = useState<string | null>(null)
  const again = () => {
    pairings.refresh()
    access.refresh()
  }
  return (
    <>
      <Head title="People" lead="Who waits, who may talk, who may decide, and why." />
      <Panel title="Waiting to be let in">
        {letIn !== null && <p role="status">{oneLine(letIn, 300)}</p>}
        {pairings.data === null ? (
          <Waiting problem={pairings.problem} />
        ) : pairings.data.items.length === 0 ? (
          <Empty>Nobody is waiting to be let in.</Empty>
        ) : (
          <ul class="lines">
            {pairings.data.items.map((one) => (
              <Stranger key={one.code} one={one} onDone={again} onLetIn={setLetIn} />
            ))}
          </ul>
        )}
      </Panel>
      <Rights access={access} onDone={again} status={status} />
      <Panel title="Users" note="of the configuration">
        {users.data === null ? (
          <Waiting problem={users.problem} />
        ) : (
          <ul class="lines">
            {users.data.items.map((one) => (
              <li key={one.id}>
                <span class="line-words">
                  <strong>
                    <Name text={one.id} />
                  </strong>
                  <span class="line-sub">
                    {one.identities.length === 0
                      ? 'no identity on a platform'
                      : oneLine(one.identities.join(', '), 200)}
                  </span>
                  <span class="line-sub">{mayWords(one.roles)}</span>
                </span>
                <Pill state="calm" text={one.roles.length === 0 ? 'no role' : one.roles.join(', ')} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {can('people.data') && <PersonData />}
    </>
  )
}

const MAY: Readonly<Record<string, string>> = {
  owner: 'may do everything, and give rights',
  operator: 'reads all of it, reloads, pairs, mends, steps in; decides no approval and gives no right',
  approver: 'decides approvals, and sees nothing else here',
  viewer: 'reads; neither secrets nor the inputs of approvals',
}

function mayWords(roles: readonly string[]): string {
  const words = roles.flatMap((role) => MAY[role] ?? [])
  return words.length === 0 ? 'may use the chat, and nothing here' : words.join('; ')
}

interface PairChoice {
  readonly approver?: true
  readonly me?: true
}

function Stranger(props: {
  readonly one: PairingView
  readonly onDone: () => void
  readonly onLetIn: (words: string) => void
}): JSX.Element {
  const { one, onDone, onLetIn } = props
  const { can } = useConsole()
  const { busy, outcome, act } = useAct()
  const letIn = (body: PairChoice) => async () => {
    const answer = await act('approve', () =>
      post('POST /api/pairings/{code}/approve', { path: { code: one.code }, body }),
    )
    if (answer?.ok) onLetIn(`${one.sender_name ?? one.sender} ${String(answer.body.granted)}.`)
    onDone()
  }
  const turnAway = async () => {
    await act('deny', () => post('POST /api/pairings/{code}/deny', { path: { code: one.code } }))
    onDone()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` move between the rows
    <li data-row tabIndex={0} aria-label={`Stranger ${one.code}`}>
      <span class="line-words">
        <strong>
          <Name text={one.sender_name ?? one.sender} />
        </strong>{' '}
        <span class="quiet">
          <Name text={one.sender} /> on <Name text={one.integration} />
        </span>
        <span class="line-sub">
          code <code>{oneLine(one.code, 20)}</code>, expires <Ago at={one.expires_at} />
        </span>
        <Outcome outcome={outcome} />
      </span>
      {can('admin.write') && (
        <span class="buttons">
          <button
            type="button"
            class="button button-good small"
            data-key="y"
            disabled={busy !== null}
            onClick={letIn({})}
          >
            Let in to talk <kbd>y</kbd>
          </button>
          {can('rights.give') && (
            <button
              type="button"
              class="button small"
              title="They may talk and approve tool calls"
              disabled={busy !== null}
              onClick={letIn({ approver: true })}
            >
              Let in, may also approve
            </button>
          )}
          <button
            type="button"
            class="button small"
            title="They are you: with your roles"
            disabled={busy !== null}
            onClick={letIn({ me: true })}
          >
            This is me
          </button>
          <button
            type="button"
            class="button button-bad small"
            data-key="n"
            disabled={busy !== null}
            onClick={turnAway}
          >
            Turn away <kbd>n</kbd>
          </button>
        </span>
      )}
    </li>
  )
}

const SHOWN = 200

function Rights(props: {
  readonly access: Asked<{ readonly items: readonly AccessView[] }>
  readonly onDone: () => void
  readonly status: Asked<StatusReport>
}): JSX.Element {
  const { access, onDone } = props
  const { can } = useConsole()
  const [query, setQuery] = useState('')
  const wanted = query.toLowerCase()
  const found = (access.data?.items ?? []).filter((one) =>
    `${one.integration} ${one.sender}`.toLowerCase().includes(wanted),
  )
  return (
    <Panel
      title="Who may talk and who may decide"
      note={access.data === null ? '' : `${access.data.items.length} rights`}
    >
      <div class="filters">
        <TextFilter label="Search" value={query} placeholder="integration or sender" onText={setQuery} />
      </div>
      {access.data === null ? (
        <Waiting problem={access.problem} />
      ) : found.length === 0 ? (
        <Empty>Nobody matches.</Empty>
      ) : (
        <ul class="lines">
          {found.slice(0, SHOWN).map((one) => (
            <RightLine
              key={`${one.integration} ${one.sender} ${one.right} ${one.origin}`}
              one={one}
              onDone={onDone}
            />
          ))}
        </ul>
      )}
      {found.length > SHOWN && <p class="quiet">{found.length - SHOWN} more: search for them.</p>}
      {can('admin.write') && <Allow onDone={onDone} integrations={props.status.data?.integrations ?? []} />}
    </Panel>
  )
}

function rightWords(right: string): string {
  if (right.startsWith('user:')) return `is ${oneLine(right.slice('user:'.length), 60)}`
  return right === 'approve' ? 'may decide' : 'may talk'
}

function RightLine({ one, onDone }: { readonly one: AccessView; readonly onDone: () => void }): JSX.Element {
  const { can } = useConsole()
  const { busy, outcome, act } = useAct()
  const granted = one.at !== null
  const takeBack = async () => {
    const { integration, sender, right } = one
    await act('revoke', () => post('POST /api/access/revoke', { body: { integration, sender, right } }))
    onDone()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` move between the rows
    <li data-row tabIndex={0}>
      <span class="line-words">
        <strong>
          <Name text={one.sender} />
        </strong>{' '}
        <span class="quiet">
          on <Name text={one.integration} />
        </span>
        <span class="line-sub">
          {oneLine(one.origin, 160)} {granted && <Ago at={one.at} />}
        </span>
        <Outcome outcome={outcome} />
      </span>
      <span class="buttons">
        <Pill state={one.right === 'talk' ? 'calm' : 'live'} text={rightWords(one.right)} />
        {granted && can('admin.write') && (
          <button
            type="button"
            class="button button-bad small"
            disabled={busy !== null}
            onClick={() => void takeBack()}
          >
            Take back
          </button>
        )}
      </span>
    </li>
  )
}

function Allow(props: {
  readonly onDone: () => void
  readonly integrations: StatusReport['integrations']
}): JSX.Element {
  const { can } = useConsole()
  const { busy, outcome, act } = useAct()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const body = Object.fromEntries(new FormData(form)) as BodyOf<'POST /api/access/grant'>
    const answer = await act('grant', () => post('POST /api/access/grant', { body }), 'Granted.')
    if (answer?.ok) form.reset()
    props.onDone()
  }
  return (
    <form class="filters spaced" onSubmit={(event) => void submit(event)} aria-label="Allow a sender">
      <label class="field">
        <span>Integration</span>
        <select name="integration" required>
          {props.integrations.map((one) => (
            <option key={one.id} value={one.id}>
              {oneLine(one.id, 40)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Sender</span>
        <input name="sender" required maxLength={1000} placeholder="id on its platform" />
      </label>
      <label class="field">
        <span>Right</span>
        <select name="right">
          <option value="talk">may talk</option>
          {can('rights.give') && <option value="approve">may decide</option>}
        </select>
      </label>
      <button type="submit" class="button" disabled={busy !== null}>
        Allow
      </button>
      <Outcome outcome={outcome} />
    </form>
  )
}
