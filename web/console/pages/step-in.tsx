// Takeovers: each address has one holder, who writes as a person. Everyone else sees the holder.
import type { JSX } from 'preact'
import type { ConversationView } from '../../../src/contract/operator/conversations.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { post } from '../api.ts'
import { Composer } from '../composer.tsx'
import { useConsole } from '../console-context.ts'
import { Ago, Outcome } from '../parts.tsx'
import { useAct } from '../queries.ts'
import { askedWords } from '../thread-item.tsx'
import { words } from '../words.ts'

const texts = words.stepIn

interface Props {
  readonly conversation: ConversationView
  readonly onDone: () => void
}

export function StepIn({ conversation, onDone }: Props): JSX.Element | null {
  const { can } = useConsole()
  const { busy, outcome, act } = useAct()
  const { address, takeover } = conversation
  if (!can('conversation.hold')) return <Seen conversation={conversation} />
  const order =
    (verb: 'take' | 'give', force = false) =>
    async () => {
      await act(verb, () =>
        post(`POST /api/conversations/{address}/${verb}`, {
          path: { address },
          body: force ? { force } : {},
        }),
      )
      onDone()
    }
  const say = async (text: string, key: string) => {
    const body = { text, idempotency_key: key, wait_ms: 3_000 }
    const answer = await act('say', () =>
      post('POST /api/conversations/{address}/say', { path: { address }, body }),
    )
    onDone()
    return answer
  }
  if (takeover?.state === 'held' && takeover.mine)
    return (
      <section class="step step-mine" aria-label={texts.label}>
        <p class="step-line">
          <strong>{texts.mine}</strong>{' '}
          {takeover.ends_at !== null && (
            <span>
              <Filled text={texts.returns} parts={{ time: <Ago at={takeover.ends_at} /> }} />
            </span>
          )}
          <button type="button" class="button small" disabled={busy !== null} onClick={order('give')}>
            {texts.giveBack}
          </button>
        </p>
        <Composer
          key={address}
          place={address}
          label={texts.write}
          placeholder={texts.writeHere}
          busy={busy !== null}
          say={say}
        />
        <Outcome outcome={outcome} />
      </section>
    )
  const isHeld = takeover?.state === 'held'
  return (
    <section class="step" aria-label={texts.label}>
      <p class="step-line">
        <span>
          {isHeld ? (
            <Filled
              text={texts.heldSince}
              parts={{
                name: oneLine(takeover.holder_name ?? takeover.holder ?? '', 60),
                time: <Ago at={takeover.since} />,
              }}
            />
          ) : takeover?.state === 'asked' ? (
            <strong>{askedWords(takeover)}</strong>
          ) : (
            texts.agentAnswers
          )}
        </span>
        <span class="buttons">
          <button
            type="button"
            class={`button ${isHeld ? 'button-bad' : 'button-main'} small`}
            disabled={busy !== null}
            onClick={order('take', isHeld)}
          >
            {isHeld ? texts.takeFromThem : texts.take}
          </button>
          {takeover !== null && (
            <button
              type="button"
              class="button small"
              disabled={busy !== null}
              onClick={order('give', isHeld)}
            >
              {isHeld ? texts.giveBackForThem : texts.dismiss}
            </button>
          )}
        </span>
      </p>
      <Outcome outcome={outcome} />
    </section>
  )
}

function Seen({ conversation: { takeover } }: Pick<Props, 'conversation'>): JSX.Element | null {
  if (takeover === null) return null
  const name = oneLine(takeover.holder_name ?? takeover.holder ?? '', 60)
  return (
    <section class="step" aria-label={texts.label}>
      <p>{takeover.state === 'held' ? texts.held({ name }) : askedWords(takeover)}</p>
    </section>
  )
}
