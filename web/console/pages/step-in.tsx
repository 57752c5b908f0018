// Stepping in: one holder an address. Whoever holds it writes as a person; everybody else sees who does.
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { SendIcon } from '../../shared/icons.tsx'
import { oneLine } from '../../shared/text.ts'
import type { Conversation } from '../conversation-types.ts'
import { api, post, useAct, useDesk } from '../desk.ts'
import { Ago, Told } from '../parts.tsx'
import { askedWords } from '../thread-item.tsx'

interface Props {
  readonly conversation: Conversation
  readonly onDone: () => void
}

export function StepIn({ conversation, onDone }: Props): JSX.Element | null {
  const { can } = useDesk()
  const { busy, told, act } = useAct()
  const { address, takeover } = conversation
  if (!can('conversation.hold')) return <Seen conversation={conversation} />
  const order =
    (verb: 'take' | 'give', force = false) =>
    async () => {
      await act(verb, () => post(api(['conversations', address, verb]), force ? { force } : {}))
      onDone()
    }
  if (takeover?.state === 'held' && takeover.mine)
    return (
      <section class="step step-mine" aria-label="Stepping in">
        <p class="step-line">
          <strong>You have this conversation.</strong>{' '}
          {takeover.ends_at !== null && (
            <span>
              The agent has it back <Ago at={takeover.ends_at} /> unless you write.
            </span>
          )}
          <button type="button" class="button small" disabled={busy !== null} onClick={order('give')}>
            Give back
          </button>
        </p>
        <Composer address={address} onDone={onDone} />
        <Told told={told} />
      </section>
    )
  const isHeld = takeover?.state === 'held'
  return (
    <section class="step" aria-label="Stepping in">
      <p class="step-line">
        <span>
          {isHeld ? (
            <>
              Held by {oneLine(takeover.holder_name ?? takeover.holder ?? '', 60)} since{' '}
              <Ago at={takeover.since} />.
            </>
          ) : takeover?.state === 'asked' ? (
            <strong>{askedWords(takeover)}</strong>
          ) : (
            'The agent answers here.'
          )}
        </span>
        <span class="buttons">
          <button
            type="button"
            class={`button ${isHeld ? 'button-bad' : 'button-main'} small`}
            disabled={busy !== null}
            onClick={order('take', isHeld)}
          >
            {isHeld ? 'Take it from them' : 'Take over'}
          </button>
          {takeover !== null && (
            <button
              type="button"
              class="button small"
              disabled={busy !== null}
              onClick={order('give', isHeld)}
            >
              {isHeld ? 'Give back for them' : 'Put aside'}
            </button>
          )}
        </span>
      </p>
      <Told told={told} />
    </section>
  )
}

function Seen({ conversation: { takeover } }: Pick<Props, 'conversation'>): JSX.Element | null {
  if (takeover === null) return null
  const name = oneLine(takeover.holder_name ?? takeover.holder ?? '', 60)
  return (
    <section class="step" aria-label="Stepping in">
      <p>{takeover.state === 'held' ? `Held by ${name}.` : askedWords(takeover)}</p>
    </section>
  )
}

function Composer({
  address,
  onDone,
}: {
  readonly address: string
  readonly onDone: () => void
}): JSX.Element {
  const { busy, told, act } = useAct()
  const [text, setText] = useState('')
  /** The same until it was taken: a second press of the button is the same message. */
  const key = useRef(crypto.randomUUID())
  const say = async () => {
    if (text.trim() === '') return
    const body = { text, idempotency_key: key.current, wait_ms: 3_000 }
    const answer = await act('say', () => post(api(['conversations', address, 'say']), body))
    if (answer?.ok && answer.body.status !== 'failed') {
      setText('')
      key.current = crypto.randomUUID()
    }
    onDone()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void say()
      }}
    >
      <label class="hidden" for="say">
        Write as a person
      </label>
      <textarea
        id="say"
        rows={2}
        value={text}
        placeholder="Write as a person…"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void say()
        }}
      />
      <button
        type="submit"
        class="icon-button send"
        aria-label="Send"
        disabled={busy !== null || text.trim() === ''}
      >
        <SendIcon />
      </button>
      <Told told={told} />
    </form>
  )
}
