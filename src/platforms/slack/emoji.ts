// Slack names emoji. Common ones are translated; any other can be given by its name.

const NAMES: Readonly<Record<string, string>> = {
  '👍': '+1',
  '👎': '-1',
  '👀': 'eyes',
  '✅': 'white_check_mark',
  '☑': 'ballot_box_with_check',
  '✔': 'heavy_check_mark',
  '❌': 'x',
  '❤': 'heart',
  '🔥': 'fire',
  '🎉': 'tada',
  '🚀': 'rocket',
  '🤔': 'thinking_face',
  '✍': 'writing_hand',
  '🙏': 'pray',
  '👌': 'ok_hand',
  '👏': 'clap',
  '🙌': 'raised_hands',
  '👋': 'wave',
  '💪': 'muscle',
  '💯': '100',
  '💡': 'bulb',
  '⚠': 'warning',
  '❓': 'question',
  '❗': 'exclamation',
  '⏳': 'hourglass_flowing_sand',
  '⌛': 'hourglass',
  '⏰': 'alarm_clock',
  '📎': 'paperclip',
  '📝': 'memo',
  '🐛': 'bug',
  '🤖': 'robot_face',
  '😀': 'grinning',
  '😂': 'joy',
  '😅': 'sweat_smile',
  '😊': 'blush',
  '😍': 'heart_eyes',
  '😎': 'sunglasses',
  '😢': 'cry',
  '😮': 'open_mouth',
  '😱': 'scream',
  '😡': 'rage',
  '🙂': 'slightly_smiling_face',
  '🤷': 'shrug',
  '⭐': 'star',
  '✨': 'sparkles',
  '🟢': 'large_green_circle',
  '🔴': 'red_circle',
  '🛑': 'octagonal_sign',
}

/** Returns Slack's name for an emoji; null: it is unknown. A name, with or without colons, is used as it is. */
export function emojiName(emoji: string): string | null {
  const bare = emoji.trim().replace(/[\uFE0E\uFE0F]/g, '')
  const known = NAMES[bare]
  if (known !== undefined) return known
  return /^:?([a-z0-9_+'-]{1,100})(::skin-tone-[2-6])?:?$/.exec(bare)?.[0].replace(/^:|:$/g, '') ?? null
}
