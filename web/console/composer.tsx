// The composer for a person in a conversation that they took over, or for trying an agent.
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { freshId } from '../shared/fresh-id.ts'
import type { Answer } from '../shared/http.ts'
import { SendIcon } from '../shared/icons.tsx'
import { useConsole } from './console-context.ts'
import { words } from './words.ts'

interface Props {
  /** The key of the draft. A draft stays while another page is shown, or after the takeover is lost. */
  readonly place: string
  readonly label: string
  readonly placeholder: string
  readonly busy: boolean
  /** Null: another message is being sent. */
  readonly say: (text: string, key: string) => Promise<Answer | null>
}

const drafts = new Map<string, string>()

export function Composer({ label, placeholder, busy, say, ...props }: Props): JSX.Element {
  // Drafts belong to the signed-in person. The next person at this page does not see them.
  const place = `${useConsole().me.user} ${props.place}`
  const [text, setText] = useState(drafts.get(place) ?? '')
  /** A second press of the button repeats the same message. A changed text is a new one. */
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
    // Text typed meanwhile stays, and so does a text that the platform refused.
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
      <button
        type="submit"
        class="icon-button send"
        aria-label={words.composer.send}
        disabled={busy || text.trim() === ''}
      >
        <SendIcon />
      </button>
    </form>
  )
}
