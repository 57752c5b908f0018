// Answers interactions: at once, and after the commit. All of it is lossy, because the decision itself is committed.
// Discord no longer knows an interaction that a resume brought late.
import { createBoundedMap, type Logger, type Received } from '../../../contract/index.ts'
import { refusalWord } from '../../../kit/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { DiscordClient } from '../api/client.ts'
import { isRefusal } from '../api/refusals.ts'
import { cutShort } from '../inbound-text.ts'
import { askedText, firstAnswer, type Interaction, leavesOpen } from '../interactions.ts'
import { escapeDiscord } from '../markdown.ts'
import { NO_MENTIONS } from '../render.ts'

export interface InteractionEndpoint {
  open(interaction: Interaction): void
  /** Shows the result; null: there was nothing to decide. */
  close(interaction: Interaction, result: Received | null): void
}

const EPHEMERAL = 64
const MOST_ASKED = 800
const MOST_OPEN = 10_000

export function createInteractionEndpoint(deps: {
  readonly client: DiscordClient
  readonly self: () => Promise<{ readonly appId: string }>
  readonly log: Logger
}): InteractionEndpoint {
  const { client, log } = deps
  const opened = createBoundedMap<string, Promise<boolean>>(MOST_OPEN)

  /** False: Discord no longer knows it, or did not receive the answer. */
  const first = async (interaction: Interaction): Promise<boolean> => {
    const { id, token } = interaction
    try {
      await client.call('POST', `/interactions/${id}/${token}/callback`, {
        body: firstAnswer(interaction),
        repeatable: true,
        timeoutMs: 3_000,
      })
      return true
    } catch (thrown) {
      // An earlier try arrived.
      if (isRefusal(thrown, 40060)) return true
      log.info(
        { problem: thrown instanceof Error ? thrown.message : '' },
        'an interaction was not answered in time',
      )
      return false
    }
  }

  const last = async (interaction: Interaction, result: Received | null): Promise<void> => {
    const isOpen = await opened.get(interaction.id)
    opened.delete(interaction.id)
    if (isOpen !== true) return
    const app = interaction.appId ?? (await deps.self()).appId
    const hook = `/webhooks/${app}/${interaction.token}`
    const text = textOf(interaction, result)
    const body = { content: text, allowed_mentions: NO_MENTIONS }
    if (leavesOpen(interaction)) {
      // An open answer would show "thinking" for a quarter of an hour.
      if (text === '') await client.call('DELETE', `${hook}/messages/@original`, { repeatable: true })
      else await client.call('PATCH', `${hook}/messages/@original`, { body, repeatable: true })
    } else if (text !== '') {
      await client.call('POST', hook, { body: { ...body, flags: EPHEMERAL }, repeatable: true })
    }
  }

  return {
    open(interaction) {
      opened.set(interaction.id, first(interaction))
    },
    close(interaction, result) {
      last(interaction, result).catch((thrown: unknown) =>
        log.info(
          { problem: thrown instanceof Error ? thrown.message : '' },
          'what came of an interaction was not shown',
        ),
      )
    },
  }
}

function textOf(interaction: Interaction, result: Received | null): string {
  if (result === null) return ''
  if (result.state === 'refused') return refusalWord(result)
  const asked = askedText(interaction)
  // The question stays visible, and the answer comes as a message below it.
  if (asked !== null) {
    const { discord, unnamed } = wordsIn().platforms
    const name = escapeDiscord(interaction.user.name ?? unnamed)
    return discord.asked({ name, text: escapeDiscord(cutShort(asked, MOST_ASKED)) })
  }
  // A command's answer comes as a message, so it is not repeated here.
  return interaction.kind === 'component' ? (result.answer ?? '') : ''
}
