// A person's own data: exported, or erased for good. Only owners may do it.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ErasedPerson } from '../../../src/contract/operator/person.ts'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { Outcome, Panel } from '../parts.tsx'
import { words } from '../words.ts'

const texts = words.personData
/** The word that a person types to confirm. */
const CONFIRMED = 'ERASE'

import { useAct } from '../queries.ts'

export function PersonData(): JSX.Element {
  const [who, setWho] = useState('')
  const [sure, setSure] = useState('')
  const [revoke, setRevoke] = useState(false)
  const [erased, setErased] = useState<ErasedPerson | null>(null)
  const { busy, outcome, act } = useAct()
  const erase = async (event: SubmitEvent) => {
    event.preventDefault()
    const answer = await act('erase', () =>
      post('POST /api/people/erase', { body: { who: who.trim(), revoke } }),
    )
    setSure('')
    setErased(answer?.ok ? (answer.body as unknown as ErasedPerson) : null)
  }
  return (
    <Panel title={texts.title} note={texts.note}>
      <form class="filters" onSubmit={(event) => void erase(event)} aria-label={texts.title}>
        <label class="field">
          <span>{texts.who}</span>
          <input
            value={who}
            maxLength={1000}
            placeholder={texts.whoFormat}
            onInput={(event) => setWho(event.currentTarget.value)}
          />
        </label>
        {who.trim() === '' ? (
          <span class="button" aria-disabled="true">
            {texts.export}
          </span>
        ) : (
          <a
            class="button"
            href={api('GET /api/people/export', { query: { who: who.trim() } })}
            download="person.ndjson"
          >
            {texts.export}
          </a>
        )}
        <label class="field">
          <span>{texts.confirm({ word: CONFIRMED })}</span>
          <input value={sure} autocomplete="off" onInput={(event) => setSure(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={revoke} onChange={() => setRevoke(!revoke)} />
          {texts.revoke}
        </label>
        <button
          type="submit"
          class="button button-bad"
          disabled={busy !== null || sure !== CONFIRMED || who.trim() === ''}
        >
          {busy === null ? texts.erase : texts.erasing}
        </button>
        <Outcome outcome={outcome} />
      </form>
      {erased !== null && (
        <p role="status" class="tone-good">
          {texts.erased({
            who: oneLine(erased.identities.join(', '), 200),
            turns: erased.turns,
            sends: erased.sends,
            files: erased.files,
          })}
          {erased.open > 0 ? texts.open({ count: erased.open }) : ''}
        </p>
      )}
    </Panel>
  )
}
