// A person's own data: exported, or erased for good. Only owners may do it.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ErasedPerson } from '../../../src/contract/operator/person.ts'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { Outcome, Panel } from '../parts.tsx'
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
    <Panel title="A person’s data" note="everything that somebody said">
      <form class="filters" onSubmit={(event) => void erase(event)} aria-label="A person’s data">
        <label class="field">
          <span>Who</span>
          <input
            value={who}
            maxLength={1000}
            placeholder="user, or integration:sender"
            onInput={(event) => setWho(event.currentTarget.value)}
          />
        </label>
        {who.trim() === '' ? (
          <span class="button" aria-disabled="true">
            Export
          </span>
        ) : (
          <a
            class="button"
            href={api('GET /api/people/export', { query: { who: who.trim() } })}
            download="person.ndjson"
          >
            Export
          </a>
        )}
        <label class="field">
          <span>To erase, type ERASE</span>
          <input value={sure} autocomplete="off" onInput={(event) => setSure(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={revoke} onChange={() => setRevoke(!revoke)} />
          take their rights back, too
        </label>
        <button
          type="submit"
          class="button button-bad"
          disabled={busy !== null || sure !== 'ERASE' || who.trim() === ''}
        >
          {busy === null ? 'Erase' : 'Erasing…'}
        </button>
        <Outcome outcome={outcome} />
      </form>
      {erased !== null && (
        <p role="status" class="tone-good">
          Erased {oneLine(erased.identities.join(', '), 200)}: {erased.turns} messages, {erased.sends} sent to
          them, {erased.files} files.
          {erased.open > 0 ? ` ${erased.open} are still on their way: erase again.` : ''}
        </p>
      )}
    </Panel>
  )
}
