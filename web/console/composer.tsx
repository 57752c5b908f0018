// Where somebody writes: as a person in a conversation they hold, or to an agent that they try.
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { freshId } from '../shared/fresh-id.ts'
import type { Answer } from '../shared/http.ts'
import { SendIcon } from '../shared/icons.tsx'
import { useDesk } from './desk.ts'

interface Props {
  /** What is written for it is kept while another page is looked at, or the hold is lost. */
  readonly place: string
  readonly label: string
  readonly placeholder: string
  readonly busy: boolean
  /** Null: another one is on its way. */
  readonly say: (text: string, key: string) => Promise<Answer | null>
}

const drafts = new Map<string, string>()

export function Composer({ label, placeholder, busy, say, ...props }: Props): JSX.Element {
  // Of whoever is signed in: the next one at this page finds nothing of theirs.
  const place = `${useDesk().me.user} ${props.place}`
  const [text, setText] = useState(drafts.get(place) ?? '')
  /** A second press of the button is the same message; other words are another one. */
  const sent = useRef<{ readonly text: string; readonly key: string } | null>(null)
  const write = (now: string) => {
    drafts.set(place, now)
    setText(now)
  }
  const submit = async () => {
    if (text.trim() === '') return
    const message = sent.current?.text === text ? sent.current : { text, key: freshId() }
    sent.current = message
    const answer = await say(text, message.key)
    if (!answer?.ok) return
    sent.current = null
    // What was typed meanwhile stays, and so does what the platform refused.
    if (answer.body.status !== 'failed' && drafts.get(place) === text) write('')
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label class="hidden" for="composer">
        {label}
      </label>
      <textarea
        id="composer"
        rows={2}
        value={text}
        placeholder={placeholder}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void submit()
        }}
      />
      <button type="submit" class="icon-button send" aria-label="Send" disabled={busy || text.trim() === ''}>
        <SendIcon />
      </button>
    </form>
  )
}
