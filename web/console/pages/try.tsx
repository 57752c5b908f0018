// Try it: a chat of the signed-in person with any agent.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { StatusReport } from '../../../src/contract/operator/views.ts'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { Composer } from '../composer.tsx'
import { useConsole } from '../console-context.ts'
import { Choice } from '../fields.tsx'
import { Empty, Head, Outcome, Waiting } from '../parts.tsx'
import { type Asked, useAct, useAsked } from '../queries.ts'
import { go, type Route } from '../route.ts'
import { words } from '../words.ts'
import { Thread } from './thread.tsx'

const texts = words.tryIt
const title = words.frame.titles.try

export function TryPage({
  route,
  status,
}: {
  readonly route: Route
  readonly status: Asked<StatusReport>
}): JSX.Element {
  const agents = status.data?.agents ?? []
  const agent = route.item ?? agents[0]?.id ?? null
  if (status.data === null)
    return (
      <>
        <Head title={title} />
        <Waiting problem={status.problem} />
      </>
    )
  if (agent === null)
    return (
      <>
        <Head title={title} />
        <Empty>{texts.noAgents}</Empty>
      </>
    )
  return (
    <div class="thread-page">
      <Head title={title} lead={texts.lead}>
        <Choice
          label={texts.agent}
          value={agent}
          options={agents.map((one) => [one.id, oneLine(one.id, 40)] as const)}
          onPick={(value) => go('try', value)}
        />
      </Head>
      <Talk key={agent} agent={agent} />
    </div>
  )
}

function Talk({ agent }: { readonly agent: string }): JSX.Element {
  const { me } = useConsole()
  const { busy, outcome, act } = useAct()
  // The address is known before the first message, because the chat may exist from another day.
  const address = `try-${agent}:${encodeURIComponent(`user:${me.user}`)}`
  const known = useAsked(api('GET /api/conversations/{address}', { path: { address } }), [])
  const [said, setSaid] = useState<string | null>(null)
  const at = said ?? (known.data === null ? null : address)
  const say = async (text: string, key: string) => {
    const answer = await act('say', () =>
      post('POST /api/agents/{id}/try', { path: { id: agent }, body: { text, idempotency_key: key } }),
    )
    if (answer?.ok && typeof answer.body.address === 'string') setSaid(answer.body.address)
    return answer
  }
  return (
    <>
      {at === null ? (
        <Empty>{texts.start({ name: oneLine(agent, 40) })}</Empty>
      ) : (
        <Thread key={at} address={at} />
      )}
      <Composer
        place={address}
        label={texts.label}
        placeholder={texts.message({ name: oneLine(agent, 40) })}
        busy={busy !== null}
        say={say}
      />
      <Outcome outcome={outcome} />
    </>
  )
}
