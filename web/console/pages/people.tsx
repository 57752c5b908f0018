// People: waiting strangers, access and approval rights with their reasons, users with their roles, and personal data.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { PairingView, StatusReport } from '../../../src/contract/operator/views.ts'
import type { AccessView } from '../../../src/operations/people/access.ts'
import type { BodyOf } from '../../../src/operations/routes.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { TextFilter } from '../fields.tsx'
import { Ago, Empty, Head, Name, Outcome, Panel, Pill, Waiting } from '../parts.tsx'
import { type Asked, useAct, useAsked } from '../queries.ts'
import { words } from '../words.ts'
import { PersonData } from './person-data.tsx'

const texts = words.people

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
      <Head title={words.frame.titles.people} lead={texts.lead} />
      <Panel title={texts.waiting}>
        {letIn !== null && <p role="status">{oneLine(letIn, 300)}</p>}
        {pairings.data === null ? (
          <Waiting problem={pairings.problem} />
        ) : pairings.data.items.length === 0 ? (
          <Empty>{texts.nobodyWaits}</Empty>
        ) : (
          <ul class="lines">
            {pairings.data.items.map((one) => (
              <Stranger key={one.code} one={one} onDone={again} onLetIn={setLetIn} />
            ))}
          </ul>
        )}
      </Panel>
      <Rights access={access} onDone={again} status={status} />
      <Panel title={texts.users} note={texts.usersNote}>
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
                    {one.identities.length === 0 ? texts.noIdentity : oneLine(one.identities.join(', '), 200)}
                  </span>
                  <span class="line-sub">{mayWords(one.roles)}</span>
                </span>
                <Pill state="calm" text={one.roles.length === 0 ? texts.noRole : one.roles.join(', ')} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {can('people.data') && <PersonData />}
    </>
  )
}

function mayWords(roles: readonly string[]): string {
  const may: Readonly<Record<string, string>> = texts.may.roles
  const known = roles.flatMap((role) => may[role] ?? [])
  return known.length === 0 ? texts.may.none : known.join('; ')
}

interface PairChoice {
  readonly approver?: true
  readonly me?: true
}

function Stranger(props: {
  readonly one: PairingView
  readonly onDone: () => void
  readonly onLetIn: (text: string) => void
}): JSX.Element {
  const { one, onDone, onLetIn } = props
  const { can } = useConsole()
  const { busy, outcome, act } = useAct()
  const letIn = (body: PairChoice) => async () => {
    const answer = await act('approve', () =>
      post('POST /api/pairings/{code}/approve', { path: { code: one.code }, body }),
    )
    if (answer?.ok)
      onLetIn(texts.letIn({ name: one.sender_name ?? one.sender, granted: String(answer.body.granted) }))
    onDone()
  }
  const turnAway = async () => {
    await act('deny', () => post('POST /api/pairings/{code}/deny', { path: { code: one.code } }))
    onDone()
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` move between the rows
    <li data-row tabIndex={0} aria-label={texts.stranger({ code: one.code })}>
      <span class="line-words">
        <strong>
          <Name text={one.sender_name ?? one.sender} />
        </strong>{' '}
        <span class="quiet">
          <Name text={one.sender} />{' '}
          <Filled text={texts.on} parts={{ integration: <Name text={one.integration} /> }} />
        </span>
        <span class="line-sub">
          <Filled
            text={texts.code}
            parts={{ code: <code>{oneLine(one.code, 20)}</code>, time: <Ago at={one.expires_at} /> }}
          />
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
            {texts.letInToTalk} <kbd>y</kbd>
          </button>
          {can('rights.give') && (
            <button
              type="button"
              class="button small"
              title={texts.letInAsApproverMeans}
              disabled={busy !== null}
              onClick={letIn({ approver: true })}
            >
              {texts.letInAsApprover}
            </button>
          )}
          <button
            type="button"
            class="button small"
            title={texts.letInAsMeMeans}
            disabled={busy !== null}
            onClick={letIn({ me: true })}
          >
            {texts.letInAsMe}
          </button>
          <button
            type="button"
            class="button button-bad small"
            data-key="n"
            disabled={busy !== null}
            onClick={turnAway}
          >
            {texts.turnAway} <kbd>n</kbd>
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
      title={texts.rights}
      note={access.data === null ? '' : texts.rightsCount({ count: access.data.items.length })}
    >
      <div class="filters">
        <TextFilter label={texts.search} value={query} placeholder={texts.searchFor} onText={setQuery} />
      </div>
      {access.data === null ? (
        <Waiting problem={access.problem} />
      ) : found.length === 0 ? (
        <Empty>{texts.none}</Empty>
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
      {found.length > SHOWN && <p class="quiet">{texts.more({ count: found.length - SHOWN })}</p>}
      {can('admin.write') && <Allow onDone={onDone} integrations={props.status.data?.integrations ?? []} />}
    </Panel>
  )
}

function rightWords(right: string): string {
  if (right.startsWith('user:')) return texts.is({ name: oneLine(right.slice('user:'.length), 60) })
  return right === 'approve' ? texts.mayDecide : texts.mayTalk
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
          <Filled text={texts.on} parts={{ integration: <Name text={one.integration} /> }} />
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
            {texts.takeBack}
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
    const answer = await act('grant', () => post('POST /api/access/grant', { body }), texts.granted)
    if (answer?.ok) form.reset()
    props.onDone()
  }
  return (
    <form class="filters spaced" onSubmit={(event) => void submit(event)} aria-label={texts.allowSender}>
      <label class="field">
        <span>{texts.integration}</span>
        <select name="integration" required>
          {props.integrations.map((one) => (
            <option key={one.id} value={one.id}>
              {oneLine(one.id, 40)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{texts.sender}</span>
        <input name="sender" required maxLength={1000} placeholder={texts.senderId} />
      </label>
      <label class="field">
        <span>{texts.right}</span>
        <select name="right">
          <option value="talk">{texts.mayTalk}</option>
          {can('rights.give') && <option value="approve">{texts.mayDecide}</option>}
        </select>
      </label>
      <button type="submit" class="button" disabled={busy !== null}>
        {texts.allow}
      </button>
      <Outcome outcome={outcome} />
    </form>
  )
}
