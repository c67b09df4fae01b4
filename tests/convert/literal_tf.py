"""The published models written out in numpy from their formulas, on the variables of their files, by their names.

Slow, one piece, span and pair at a time, in double precision. It shares nothing with the package: no model code, no
name map, no transposes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Variables = Mapping[str, npt.NDArray[np.float64]]
Network = Callable[[Vector], float]


@dataclass(frozen=True)
class Text:
    """A segment as plain lists; the words and sentences of special pieces are -1."""

    pieces: list[int]
    words: list[int]
    sentences: list[int]
    position: int


@dataclass(frozen=True, eq=False)
class Span:
    start: int  # pieces of the text, the end inclusive
    end: int
    words: tuple[int, int]  # the end exclusive
    segment: int
    vector: Vector
    score: float


@dataclass(eq=False)
class Decision:
    words: tuple[int, int]
    entity: int
    score: float
    alpha: float | None


# BERT, on TensorFlow's variables


def gelu(x: Vector) -> Vector:
    return np.array([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.ravel()]).reshape(x.shape)


def softmax(x: Vector) -> Vector:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: Vector, v: Variables, scope: str) -> Vector:
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return centred / deviation * v[f"{scope}/LayerNorm/gamma"] + v[f"{scope}/LayerNorm/beta"]


def dense(x: Vector, v: Variables, scope: str) -> Vector:
    return x @ v[f"{scope}/kernel"] + v[f"{scope}/bias"]


def bert(v: Variables, pieces: Sequence[int], layers: int, heads: int) -> Vector:
    x = np.stack(
        [
            v["bert/embeddings/word_embeddings"][piece]
            + v["bert/embeddings/position_embeddings"][place]
            + v["bert/embeddings/token_type_embeddings"][0]
            for place, piece in enumerate(pieces)
        ]
    )
    x = layer_norm(x, v, "bert/embeddings")
    for number in range(layers):
        layer = f"bert/encoder/layer_{number}"
        query, key, value = (dense(x, v, f"{layer}/attention/self/{part}") for part in ("query", "key", "value"))
        size = x.shape[1] // heads
        outputs = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights = softmax(query[:, part] @ key[:, part].T / math.sqrt(size))
            outputs.append(weights @ value[:, part])
        attended = dense(np.concatenate(outputs, axis=1), v, f"{layer}/attention/output/dense")
        x = layer_norm(x + attended, v, f"{layer}/attention/output")
        inner = dense(gelu(dense(x, v, f"{layer}/intermediate/dense")), v, f"{layer}/output/dense")
        x = layer_norm(x + inner, v, f"{layer}/output")
    return x


# Networks, on TensorFlow's variables and on those of the authors' state_dict


def tf_network(v: Variables, scope: str) -> Network:
    def run(x: Vector) -> float:
        hidden = np.maximum(x @ v[f"{scope}/hidden_weights_0"] + v[f"{scope}/hidden_bias_0"], 0)
        return float((hidden @ v[f"{scope}/output_weights"] + v[f"{scope}/output_bias"])[0])

    return run


def torch_network(v: Variables, name: str) -> Network:
    def run(x: Vector) -> float:
        hidden = np.maximum(v[f"{name}.layers.0.weight"] @ x + v[f"{name}.layers.0.bias"], 0)
        return float(np.ravel(v[f"{name}.projection.weight"]) @ hidden + np.ravel(v[f"{name}.projection.bias"])[0])

    return run


# Spans


def bucket(distance: int) -> int:
    if distance <= 4:
        return max(distance, 0)
    return min(math.floor(math.log(distance) / math.log(2)) + 3, 9)


@dataclass(frozen=True)
class SpanParts:
    attention: Callable[[Vector], float]
    widths: Vector
    prior_widths: Vector
    score: Network
    width_score: Network


def tf_span_parts(v: Variables) -> SpanParts:
    return SpanParts(
        attention=lambda x: float((x @ v["mention_word_attn/output_weights"] + v["mention_word_attn/output_bias"])[0]),
        widths=v["span_width_embeddings"],
        prior_widths=v["span_width_prior_embeddings"],
        score=tf_network(v, "mention_scores"),
        width_score=tf_network(v, "width_scores"),
    )


def torch_span_parts(v: Variables) -> SpanParts:
    attention = "span_scorer.attnProjection.output_layer"
    return SpanParts(
        attention=lambda x: float((v[f"{attention}.weight"] @ x + v[f"{attention}.bias"])[0]),
        widths=v["span_scorer.span_width_embeddings"],
        prior_widths=v["span_scorer.span_width_prior_embeddings"],
        score=torch_network(v, "span_scorer.spanFFNN"),
        width_score=torch_network(v, "span_scorer.widthFFNN"),
    )


def candidates(parts: SpanParts, text: Text, encoded: Vector, segment: int = 0) -> list[Span]:
    """Every span inside one sentence, at most as wide as the table; no special pieces."""
    found = []
    for start in range(len(text.pieces)):
        for end in range(start, min(start + len(parts.widths), len(text.pieces))):
            if -1 in text.words[start : end + 1] or text.sentences[start] != text.sentences[end]:
                continue
            inside = encoded[start : end + 1]
            head = softmax(np.array([parts.attention(x) for x in inside])) @ inside
            vector = np.concatenate([encoded[start], encoded[end], parts.widths[end - start], head])
            score = parts.score(vector) + parts.width_score(parts.prior_widths[end - start])
            words = (text.words[start], text.words[end] + 1)
            found.append(Span(text.position + start, text.position + end, words, segment, vector, score))
    return found


# The incremental model


def incremental(
    v: Variables,
    texts: Sequence[Text],
    encoded: Sequence[Vector],
    genre: int,
    ratio: float,
    singleton: int,
    cluster: int,
) -> list[Decision]:
    """Algorithm 1 on the authors' variables: eviction measured from the start of the latest mention."""
    parts = torch_span_parts(v)
    pair_score = torch_network(v, "pair_scorer.slow_antecedent_scores")
    alpha_net = torch_network(v, "mlp")
    threshold = float(v["threshold"][0])
    zeros = np.zeros(v["pair_scorer.same_speaker_emb"].shape[1])
    entities: dict[int, dict] = {}
    decisions: list[Decision] = []
    for text, pieces in zip(texts, encoded, strict=True):
        found = candidates(parts, text, pieces)
        kept = sorted(found, key=lambda s: -s.score)[: int(ratio * len(text.pieces))]
        for span in sorted(kept, key=lambda s: (s.start, s.end)):
            best, best_score = None, threshold
            for number, entity in entities.items():
                middle, last = (span.start + span.end) / 2, (entity["start"] + entity["end"]) / 2
                x, e = span.vector, entity["vector"]
                features = [
                    zeros,
                    v["genre_embedder.genre_emb"][genre],
                    v["pair_scorer.antecedent_distance_emb"][bucket(int(middle - last))],
                    v["pair_scorer.segment_distance_emb"][0],
                ]
                score = span.score + pair_score(np.concatenate([x, e, x * e, *features]))
                if score > best_score:
                    best, best_score = number, score
            alpha = None
            if best is None:
                best = len({d.entity for d in decisions})
                entities[best] = {"vector": span.vector, "size": 0}
            else:
                old = entities[best]["vector"]
                alpha = 1 / (1 + math.exp(-alpha_net(np.concatenate([old, span.vector]))))
                entities[best]["vector"] = alpha * old + (1 - alpha) * span.vector
            entities[best] |= {"start": span.start, "end": span.end, "size": entities[best]["size"] + 1}
            decisions.append(Decision(span.words, best, best_score, alpha))
        read = text.position + len(text.pieces)
        entities = {
            number: entity
            for number, entity in entities.items()
            if read - entity["start"] <= (singleton if entity["size"] == 1 else cluster)
        }
    return decisions


# The baseline


def without_crossing(spans: list[Span], limit: int) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: -s.score):
        crosses = any(a.start < b.start <= a.end < b.end for o in kept for a, b in ((span, o), (o, span)))
        if not crosses and len(kept) < limit:
            kept.append(span)
    return sorted(kept, key=lambda s: (s.start, s.end))


def baseline(
    v: Variables,
    texts: Sequence[Text],
    encoded: Sequence[Vector],
    speakers: Sequence[str],
    genre: int,
    ratio: float,
    antecedents: int,
) -> tuple[list[Span], list[dict[int, float]]]:
    """The spans kept of the text, and for each the final scores of its best antecedents, on TensorFlow's variables."""
    parts = tf_span_parts(v)
    fine_score = tf_network(v, "coref_layer/slow_antecedent_scores")
    found = [
        s
        for number, (text, pieces) in enumerate(zip(texts, encoded, strict=True))
        for s in candidates(parts, text, pieces, number)
    ]
    spans = without_crossing(found, int(ratio * sum(len(text.pieces) for text in texts)))
    prior = v["antecedent_distance_emb"] @ v["output_weights"] + v["output_bias"]  # [10, 1]

    def coarse(i: int, j: int) -> float:
        source = spans[i].vector @ v["src_projection/output_weights"] + v["src_projection/output_bias"]
        return spans[i].score + spans[j].score + float(source @ spans[j].vector) + float(prior[bucket(i - j), 0])

    def fine(vectors: list[Vector], i: int, j: int) -> float:
        x, y = vectors[i], vectors[j]
        same = int(speakers[spans[i].words[0]] == speakers[spans[j].words[0]])
        segments = v["coref_layer/segment_distance/segment_distance_embeddings"]
        features = [
            v["coref_layer/same_speaker_emb"][same],
            v["genre_embeddings"][genre],
            v["coref_layer/antecedent_distance_emb"][bucket(i - j)],
            segments[min(spans[i].segment - spans[j].segment, len(segments) - 1)],
        ]
        return fine_score(np.concatenate([x, y, x * y, *features]))

    shortlists = []
    for i in range(len(spans)):
        scores = {j: coarse(i, j) for j in range(i)}
        shortlists.append({j: scores[j] for j in sorted(scores, key=scores.__getitem__, reverse=True)[:antecedents]})
    vectors = [span.vector for span in spans]
    final = [{j: c + fine(vectors, i, j) for j, c in shortlist.items()} for i, shortlist in enumerate(shortlists)]
    refined = []
    for i, x in enumerate(vectors):
        weights = softmax(np.array([0.0, *final[i].values()]))
        attended = weights @ np.stack([x, *(vectors[j] for j in final[i])])
        gate = np.concatenate([x, attended]) @ v["coref_layer/f/output_weights"] + v["coref_layer/f/output_bias"]
        f = 1 / (1 + np.exp(-gate))
        refined.append(f * attended + (1 - f) * x)
    return spans, [{j: c + fine(refined, i, j) for j, c in shortlist.items()} for i, shortlist in enumerate(shortlists)]
