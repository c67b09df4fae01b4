// Texts to try, written for this project.

export const EXAMPLES = [
  {
    name: "A story",
    begins: "Clara Whitlow inherited the clock in March, and by April she had stopped it twice.",
    text: `The Clock at Fennmoor

Clara Whitlow inherited the clock in March, and by April she had stopped it twice. It struck thirteen at dusk. Her brother Edmund said that the old thing was tired and should be allowed to rest.

“You never liked it,” Clara told him. She opened the case and looked at the weights. They were lead, and one of them had a name scratched into it.

Edmund bent down beside his sister. “Josiah Penn,” he read. “He made the bell for the church, and then he left Fennmoor for good.”

The sexton knew more. Mr. Abel Crane had kept the tower for forty years, and he remembered what his grandfather used to say: the bellmaker had sworn that his work would call him home. Clara thanked him, walked back over the moor, and wound the clock again. That evening, when it struck thirteen, somebody knocked at her door.`,
  },
  {
    name: "A chat",
    begins: "Mira: Has anybody seen Theo? He was going to bring the projector.",
    text: `[09:02] Mira: Has anybody seen Theo? He was going to bring the projector.
[09:03] Ansel: I met him at the station. He said it was still in his car.
[09:03] Mira: Great. Could you tell him that we are in room 12?
[09:05] Ansel: He knows. His sister is with him, she wants to hear the talk.
[09:06] Mira: Then I will find her a chair.
[09:11] Ansel: They are here. Theo dropped the projector, but it works.`,
  },
  {
    name: "Verse",
    begins: "The ferryman came down at dawn, his lantern in his hand.",
    text: `The ferryman came down at dawn,
  his lantern in his hand;
he called his dog, he took his oar
  and left the sleeping land.

The dog sat up before the mast
  and watched the water go.
It knew the way, it knew the tide,
  as only old dogs know.

His daughter stood upon the pier
  and waved till he was gone;
then she went home and lit the stove
  and put her father's kettle on.`,
  },
];
